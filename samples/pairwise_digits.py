"""All pairs of handwritten digits: their distances, the nearest neighbour of each, how often it is right.

The 1797 digits of scikit-learn are 64 pixels of 0 to 16 each. A distance is symmetric, so digit i is
compared with the digits after it alone. Every number is an integer, so the result is exact.

Cost: iteration i makes n - 1 - i comparisons, a triangle.

    python samples/pairwise_digits.py [N]      N is the number of digits (default: all 1797)
"""

import sys
import zlib

import numpy as np
from sklearn.datasets import load_digits

FAR = 1 << 20  # more than any distance: 64 pixels differ by 16 each at most


def squared_distances(one, others):
    """The squared distance from one digit to each of the others."""
    difference = others - one
    return (difference * difference).sum(axis=1)


def all_distances(pixels):
    """The upper triangle of the matrix of squared distances; FAR elsewhere."""
    n = len(pixels)
    distances = np.full((n, n), FAR)
    # dlb: parallel, CYCLIC, WHOLE(pixels)
    for i in range(n):
        distances[i, i + 1 :] = squared_distances(pixels[i], pixels[i + 1 :])
    return distances


def main():
    digits = load_digits()
    n = int(sys.argv[1]) if len(sys.argv) > 1 else len(digits.target)
    pixels = digits.data[:n].astype(np.int64)
    labels = digits.target[:n]

    upper = all_distances(pixels)
    distances = np.minimum(upper, upper.T)
    nearest = distances.argmin(axis=1)
    right = int((labels[nearest] == labels).sum())

    closest = divmod(int(distances.argmin()), len(labels))
    print(f"{len(labels)} digits, {len(labels) * (len(labels) - 1) // 2} pairs")
    print(f"closest pair: {closest[0]} and {closest[1]}, squared distance {distances[closest]}")
    print(f"nearest has the same label: {right} of {len(labels)} ({100 * right / len(labels):.2f} %)")
    print(f"crc32 of the nearest neighbours: {zlib.crc32(nearest.astype(np.int64).tobytes()):08x}")
    print(f"crc32 of the distances: {zlib.crc32(upper.tobytes()):08x}")


if __name__ == "__main__":
    main()
