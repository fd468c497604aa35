"""Samples and test functions whose loops are proposed; a file of parameters."""

import numpy as np
from SALib.sample import sobol_sequence
from SALib.sample.morris.local import LocalOptimisation
from SALib.sample.morris.strategy import Strategy
from SALib.test_functions import Sobol_G
from SALib.util import read_param_file
from show import show

rng = np.random.default_rng(4)
show("sobol", sobol_sequence.sample(64, 7))
show("G", Sobol_G.evaluate(rng.random((40, 8)), delta=rng.random(8), alpha=rng.random(8) + 0.5))
show("total", Sobol_G.V_Ti_regular(np.array([0.5, 0.25, 0.1, 0.01]), 2))
print([list(map(int, part)) for part in Strategy._make_index_list(5, 3)])
print(LocalOptimisation().add_indices((1, 3), np.zeros((6, 6))))
with open("parameters.txt", "w") as file:
    file.write("# name,low,high,group,dist\np1,0,1,g1,unif\np2,-1,2.5,g2,triang\np3,0,10,NA,norm\n")
print(read_param_file("parameters.txt", delimiter=","))
