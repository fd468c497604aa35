"""Bodies that attract each other: python nbody.py BODIES."""

import sys

import numpy as np

n = int(sys.argv[1])
steps, dt, soft = 20, 0.01, 0.05
rng = np.random.default_rng(1)
pos = rng.normal(size=(n, 3))
vel = np.zeros((n, 3))
mass = rng.uniform(0.5, 1.5, n) / n
acc = np.zeros((n, 3))


def energy():
    return 0.5 * np.sum(mass * np.sum(vel**2, axis=1))


for step in range(steps):
    # dlb: parallel
    for i in range(n):
        d = pos - pos[i]
        r2 = np.sum(d**2, axis=1) + soft**2
        acc[i] = np.sum(d * (mass / r2**1.5)[:, None], axis=0)
    vel += acc * dt
    pos += vel * dt
    if step % 5 == 0:
        print(f"step {step}: kinetic energy {energy():.12f}")
print("centre", np.sum(pos * mass[:, None], axis=0))
