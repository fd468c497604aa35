"""The folding of RNA by dynamic programming (PolyBench nussinov), spans of one length at a time."""

import numpy as np
from harness import run

SIZES = {"MINI": (60,), "SMALL": (180,), "MEDIUM": (500,), "LARGE": (2500,)}


def initial(n):
    return (np.arange(n) + 1) % 4, np.zeros((n, n), dtype=np.int64)


def kernel(sequence, table):
    n = len(sequence)
    for length in range(1, n):
        # dlb: parallel, BLOCK, jit
        for i in range(n - length):
            j = i + length
            best = max(table[i, j], table[i, j - 1])
            best = max(best, table[i + 1, j])
            if length > 1:
                pair = 1 if sequence[i] + sequence[j] == 3 else 0
                best = max(best, table[i + 1, j - 1] + pair)
            else:
                best = max(best, table[i + 1, j - 1])
            for k in range(i + 1, j):
                best = max(best, table[i, k] + table[k + 1, j])
            table[i, j] = best
    return table


def original(sequence, table):
    n = len(sequence)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            table[i, j] = max(table[i, j], table[i, j - 1])
            table[i, j] = max(table[i, j], table[i + 1, j])
            if i < j - 1:
                pair = 1 if sequence[i] + sequence[j] == 3 else 0
                table[i, j] = max(table[i, j], table[i + 1, j - 1] + pair)
            else:
                table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


if __name__ == "__main__":
    run(kernel, initial, SIZES)
