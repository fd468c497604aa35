"""Azimuthal integration, a mask for each ring (NPBench azimint_naive, from pyFAI)."""

import numpy as np


def integrate(data, radius, rings):
    largest = radius.max()
    means = np.zeros(rings)
    # dlb: parallel, BLOCK
    for i in range(rings):
        inner = largest * i / rings
        outer = largest * (i + 1) / rings
        mask = np.logical_and((inner <= radius), (radius < outer))
        inside = data[mask]
        means[i] = inside.mean()
    return means


rng = np.random.default_rng(2)
print(integrate(rng.random(500), rng.random(500), 12).tolist())
