"""The folding of RNA by dynamic programming (PolyBench nussinov)."""

import numpy as np


def fold(sequence, table):
    n = len(sequence)
    # Not legal: row i needs the rows below, already filled.
    # dlb: parallel, BLOCK
    for i in range(n - 1, -1, -1):
        # Not legal: element j needs the elements before it in the row.
        # dlb: parallel, BLOCK
        for j in range(i + 1, n):
            table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
                pair = sequence[i] + sequence[j] == 3 if i < j - 1 else 0
                table[i, j] = max(table[i, j], table[i + 1, j - 1] + pair)
            # Legal, but other elements of the array are read: `best = max(best, ...)` would do
            # dlb: parallel, BLOCK
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])


table = np.zeros((12, 12), dtype=int)
fold([(i + 1) % 4 for i in range(12)], table)
print(table.tolist())
