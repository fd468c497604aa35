# expect: DLB501 2:1, DLB501 3:1, DLB501 5:5
import os, mpi4py.MPI
from mpi4py import MPI
import importlib
m = importlib.import_module("mpi4py.MPI")
# dlb: parallel
for i in range(3):
    pass
