"""Arrays that overlap, the same object twice, negative subscripts: right results in any case."""

import numpy as np


def shift(a, b, n):
    # dlb: parallel, BLOCK
    for i in range(n):
        a[i] = b[i] + 1
    return a


base = np.arange(20.0)
print(shift(base[1:], base[:-1], 19).tolist())
print(shift(base, base, 20).tolist())
x = np.arange(10.0)
print(shift(x[::2], x[1::2], 5).tolist(), x.tolist())
rows = [[0] * 3] * 4
# dlb: parallel, BLOCK
for i in range(4):
    for k in range(3):
        rows[i][k] = i
print(rows)
ring = np.zeros(8)
# dlb: parallel, BLOCK
for i in range(8):
    ring[i - 3] = i
print(ring.tolist())
store = {}
# dlb: parallel, BLOCK
for i in range(5):
    store[i] = i * i
print(store)
grid = np.arange(30.0).reshape(6, 5)
flat = grid.reshape(-1)
across = grid.ravel()
# dlb: parallel, BLOCK
for k in range(0, len(flat), 2):
    flat[k] = -flat[k]
down = grid.T
# dlb: parallel, BLOCK
for j in range(5):
    down[j, 1:] = 2 * down[j, :-1]
print(grid.tolist())
first = grid[:, 0]
second = grid[:, 1]
# dlb: parallel, BLOCK
for i in range(6):
    first[i] += i
    second[i] = 2 * first[i]
print(grid.tolist())
# dlb: parallel, BLOCK
for i in range(5):
    down[i, 0] = across[2 * i + 5] + 1
print(grid.tolist())
