"""Volumes of balls by Monte Carlo, written as CSV: python area.py BATCHES FILE."""

import csv
import sys

import numpy as np

DIMENSIONS = [2, 3, 4, 5]


def inside(rng, dimension, samples):
    x = rng.uniform(-1.0, 1.0, size=(samples, dimension))
    return int(np.count_nonzero((x * x).sum(axis=1) <= 1.0))


batches, path = int(sys.argv[1]), sys.argv[2]
samples = 10_000
rows = []
# dlb: parallel
for batch in range(batches):
    rng = np.random.default_rng([11, batch])
    row = {"batch": batch}
    for dimension in DIMENSIONS:
        row[f"volume_{dimension}"] = 2.0**dimension * inside(rng, dimension, samples) / samples
    rows.append(row)

with open(path, "w", newline="") as file:
    writer = csv.DictWriter(file, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
for dimension in DIMENSIONS:
    volumes = [row[f"volume_{dimension}"] for row in rows]
    print(dimension, f"{np.mean(volumes):.8f} +- {np.std(volumes) / np.sqrt(batches):.8f}")
