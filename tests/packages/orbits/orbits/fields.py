import numpy as np

GRID = np.linspace(0, 1, 40)
TABLE = np.zeros(40)
# dlb: parallel, BLOCK
for k in range(40):
    TABLE[k] = np.sin(GRID[k])


def potential(grid):
    out = np.zeros((len(grid), len(grid)))
    # dlb: parallel, BLOCK
    for i in range(len(grid)):
        for j in range(len(grid)):
            out[i, j] = grid[i] * TABLE[j]
    return out
