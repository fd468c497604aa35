# expect: DLB506 9:5, DLB506 17:5
from typing import TYPE_CHECKING

import numpy as np

A = np.zeros(8)
if TYPE_CHECKING:
    # dlb: parallel, BLOCK
    for i in range(8):
        A[i] = i


def fill():
    return A
    A[0] = 1
    # dlb: parallel, BLOCK
    for i in range(8):
        A[i] = i
