"""Designs of experiments of all kinds whose loops are proposed."""

import numpy as np
import pyDOE3
from pyDOE3.build_regression_matrix import build_regression_matrix
from pyDOE3.doe_factorial import _grep, fracfact_aliasing
from pyDOE3.doe_gsd import gsd
from pyDOE3.doe_optimal import algorithms
from pyDOE3.doe_optimal.model import build_design_matrix, generate_candidate_set
from pyDOE3.doe_sparse_grid import doe_sparse_grid
from pyDOE3.doe_star import star
from pyDOE3.grid_designs.doe_sukharev import sukharev_grid
from pyDOE3.utils import scale_samples
from show import show

show("doehlert shells", pyDOE3.doehlert_shell_design(3))
show("doehlert simplex", pyDOE3.doehlert_simplex_design(4))
show("full", pyDOE3.fullfact([2, 4, 3]))
design = pyDOE3.fracfact("a b -ab c +abc")
show("fractional", design)
print(_grep(["xa", "b", "ax"], "x"))
names, costs = fracfact_aliasing(design)
print(names)
show("aliases", costs)
show("folded", pyDOE3.fold(design, [0, 2]))
show("folded all", pyDOE3.fold(design))
show("subset", gsd([3, 4, 6], 3))
show("halton", pyDOE3.halton_sequence(40, 4, skip=3))
candidates = generate_candidate_set(2, n_levels=4)
show("cubic", build_design_matrix(candidates, 4))
np.random.seed(7)
show("random", generate_candidate_set(3, [(0, 1), (-2, 2), (5, 6)], 3, "uniform_random"))
for make in (
    algorithms.simple_exchange_wynn_mitchell,
    algorithms.fedorov,
    algorithms.modified_fedorov,
    algorithms.detmax,
):
    show(make.__name__, make(candidates, 7, 2, max_iter=5))
show("sparse", doe_sparse_grid(4, 3))
show("star", star(3)[0])
print(pyDOE3.taguchi_design("L4(2^3)", [[1, 2], ["a", "b"], [0.5, None]]).tolist())
show("sukharev", sukharev_grid(27, 3))
show("scaled", scale_samples(np.array([[0.1, 0.2], [0.8, 0.9]]), [(-1, 1), (0, 10)]))
try:
    scale_samples(np.array([[0.1, 0.2], [0.8, 0.9]]), [(1, 1), (10, 0)])
except ValueError as error:
    print(error)
try:  # it fails in itself after its first loop
    build_regression_matrix(np.ones((3, 2)), "x0 x1 x0*x1")
except TypeError as error:
    print(error)
