"""Iterations that seed the global random generators: their draws, and the states afterwards."""

import random

import numpy as np


def set_seed(s):
    "both"
    random.seed(s)
    np.random.seed(s)


def simulate(s, n):
    np.random.seed(s)
    w = np.random.randn(n)
    if w[0] > 0:
        w = w + np.random.randn(n)
    return w.sum()


n = 13
x = np.zeros(n)
y = np.zeros(n)
z = np.zeros(n)
seeds = [7 * k + 1 for k in range(n)]
# dlb: parallel
for i in range(n):
    set_seed(i)
    x[i] = random.random() + np.random.normal() + random.gauss(0, 1)
print(x, random.random(), np.random.rand(), random.gauss(0, 1))
# dlb: parallel, CYCLIC
for i in range(n):
    x[i] = simulate(seeds[i], 10)
    for k in range(i):
        x[i] += np.random.rand()
print(x, np.random.rand())


def f(seed, n):
    # dlb: parallel
    for i in range(n):
        np.random.seed(seed + i)
        t = np.random.rand(3)
        y[i] = t.sum()
    return np.random.rand(), t


print(f(5, n), f(3, 0), y)
print(np.random.rand())
try:
    # dlb: parallel
    for i in range(n):
        np.random.seed(i)
        z[i] = np.random.rand()
        if i == 7:
            raise ValueError(i)
except ValueError as e:
    print(e, np.random.rand(), z[:7])
# dlb: parallel
for i in reversed(range(n)):
    random.seed(f"run{i}")
    z[i] = random.choice(seeds) + random.uniform(0, 1)
print(z, random.random())
rows, lists = np.arange(4.0 * n).reshape(n, 4), [[1, 2, 3, 4] for _ in range(n)]
# dlb: parallel
for i in range(n):
    generator = np.random.default_rng(i)
    generator.shuffle(rows[i])
    generator.permuted(rows[i], out=rows[i])
    random.Random(i).shuffle(lists[i])
    z[i] = rows[i, 0] + lists[i][0]
print(rows.tolist(), lists, z)
