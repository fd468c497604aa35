"""Azimuthal integration by a weighted histogram (NPBench azimint_hist, from pyFAI)."""

import numpy as np


def bin_edges(a, bins):
    low, high = a.min(), a.max()
    width = (high - low) / bins
    edges = np.zeros(bins + 1)
    # dlb: parallel, BLOCK
    for i in range(edges.shape[0]):
        edges[i] = low + i * width
    edges[-1] = high
    return edges


def bin_of(x, edges):
    n = edges.shape[0] - 1
    if x == edges[-1]:
        return n - 1
    return int(n * (x - edges[0]) / (edges[-1] - edges[0]))


def histogram(a, bins, weights):
    counts = np.zeros(bins)
    edges = bin_edges(a, bins)
    # dlb: parallel, BLOCK
    for i in range(a.shape[0]):
        k = bin_of(a[i], edges)
        counts[k] += weights[i]
    return counts, edges


rng = np.random.default_rng(1)
radius, data = rng.random(200), rng.random(200)
weighted, edges = histogram(radius, 10, data)
print(edges.tolist(), (weighted / np.histogram(radius, 10)[0]).tolist())
