"""Histogram of the distances of all pairs: python pairs.py POINTS."""

import sys

import numpy as np

n = int(sys.argv[1])
bins, width = 60, 0.03
rng = np.random.default_rng(5)
points = rng.random((n, 3))

hist = np.zeros(bins, dtype=np.int64)
# dlb: parallel
for i in range(n):
    d = np.sqrt(np.sum((points[i + 1 :] - points[i]) ** 2, axis=1))
    counts, _ = np.histogram(d, bins=bins, range=(0.0, bins * width))
    hist += counts

print("pairs", hist.sum(), "fullest bin", hist.argmax(), "first", hist[:5])
