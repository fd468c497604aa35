"""A process forked in a routine sees the arrays as the program does; what it changes is its own."""

import os

import numpy as np

u = np.arange(24.0)
# dlb: iterate
for t in range(4):
    # dlb: parallel
    for i in range(24):
        u[i] = u[i] + i * t
    if t in (1, 2):
        child = os.fork()
        if child == 0:
            u[3] = -1.0
            print("in the child", t, u[3], u[20], u.sum(), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
print(u[3], u.sum())
