"""State that the program set before the loop: environment, numpy's settings, a module of its own."""

import decimal
import os
import random
import sys

import numpy as np
import side_module

os.environ["SIDE_FACTOR"] = "7"
np.seterr(divide="raise")
decimal.getcontext().prec = 12
side_module.scale = 11
random.seed(5)
n = 12
out = [None] * n
# dlb: parallel, BLOCK
for i in range(n):
    try:
        quotient = str(np.float64(1.0) / np.float64(i - 6))
    except FloatingPointError as error:
        quotient = str(error)
    out[i] = (side_module.scaled(i), os.environ["SIDE_FACTOR"], str(decimal.Decimal(1) / (i + 1)), quotient)
for row in out:
    print(row)
print(random.random(), sys.argv[1:], sys.stdin.read().split())
sys.exit(3)
