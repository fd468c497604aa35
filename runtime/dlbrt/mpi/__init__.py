"""The MPI driver: the only place of the runtime that imports mpi4py."""
