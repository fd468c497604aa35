"""LU decomposition by rows: at stage i the pivot row is taken, times a factor, from every row below it.

The loops are those of sgetrf in figure 2 of Ciegis, Sablinskas, Simkevicius and Wasniewski, "Load balancing
problem for parallel computers", without pivoting; the innermost starts behind the diagonal:

    for i = 1 to n - 1
        for j = i + 1 to n
            l[j, i] = a[j, i] / a[i, i]
            for k = i + 1 to n
                a[j, k] = a[j, k] - l[j, i] a[i, k]

The matrix is random and diagonally dominant, so no pivot is small. Factors and remainders replace it.

Rows stay where they are from stage to stage; what travels is the pivot row. In blocks (BLOCK) the rank with
the first rows is done after its last pivot, and 2/3 of the processors' time is used; dealt in turn (CYCLIC),
all work nearly to the end (sections 3.2 and 3.3). On processors that differ, say how fast they are, as in
example 2:

    dlbc run -n 6 --strategy none --weights 1,1.5,2.5,3.1,3.6,4.3 samples/lu.py 100 CYCLIC

Cost: a row at stage i takes n - i multiplications, and there are n - i rows.

    python samples/lu.py [N [BLOCK | CYCLIC]]      N rows (default 800, CYCLIC)
"""

import sys
import zlib

import numpy as np


def factorize_in_blocks(A):
    """L, whose diagonal is 1, and U in the place of A; rows in contiguous blocks."""
    n = len(A)
    # dlb: iterate
    for i in range(n - 1):
        # dlb: parallel, BLOCK(A)
        for j in range(i + 1, n):
            A[j, i] /= A[i, i]
            A[j, i + 1 :] -= A[j, i] * A[i, i + 1 :]


def factorize_scattered(A):
    """The same, rows dealt in turn."""
    n = len(A)
    # dlb: iterate
    for i in range(n - 1):
        # dlb: parallel, CYCLIC(A)
        for j in range(i + 1, n):
            A[j, i] /= A[i, i]
            A[j, i + 1 :] -= A[j, i] * A[i, i + 1 :]


FACTORIZE = {"BLOCK": factorize_in_blocks, "CYCLIC": factorize_scattered}


def dominant(n):
    """A random matrix whose diagonal elements exceed the sum of the others in their row."""
    A = np.random.default_rng(1996).random((n, n))
    return A + n * np.eye(n)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 800
    rows = sys.argv[2] if len(sys.argv) > 2 else "CYCLIC"
    A = dominant(n)
    LU = A.copy()
    FACTORIZE[rows](LU)

    L, U = np.tril(LU, -1) + np.eye(n), np.triu(LU)
    residual = abs(L @ U - A).max() / n
    print(f"LU of {n}x{n}, rows {rows}")
    print(f"L U - A is {'less' if residual < 1e-14 else 'NOT less'} than 1e-14 of the diagonal")
    print(f"logarithm of the determinant: {np.log(U.diagonal()).sum():.6f}")
    print(f"crc32 of L and U: {zlib.crc32(LU.tobytes()):08x}")


if __name__ == "__main__":
    main()
