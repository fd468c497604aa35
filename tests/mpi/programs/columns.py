"""A column distribution, in C and in Fortran order, a subscript that counts down, a step of two."""

import numpy as np


def work(order: str, n: int) -> str:
    A = np.array(np.arange(6.0 * n).reshape(6, n), order=order)
    B = np.zeros((6, n), order=order)
    C = np.full(2 * n, -1.0)
    # dlb: parallel, BLOCK(A, B, axis=1)
    for j in range(n):
        for k in range(6):
            B[k, j] = A[k, j] * 2.0 + k
        C[2 * j] = B[0, j]
        C[2 * j + 1] = -B[5, j]
    D = np.zeros(n)
    # dlb: parallel, CYCLIC
    for i in range(n - 1, -1, -1):
        D[n - 1 - i] = A[1, i] + i
    return f"{B.tobytes().hex()[:200]} {C.sum()} {C[:7].tolist()} {D.tolist()}"


for n in (0, 1, 2, 17):
    print(work("C", n))
    print(work("F", n))
