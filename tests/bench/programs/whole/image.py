"""A median filter with a helper for each pixel: python image.py WIDTH."""

import sys

import numpy as np


def window(image, y, x, r):
    h, w = image.shape
    return image[max(0, y - r) : min(h, y + r + 1), max(0, x - r) : min(w, x + r + 1)]


def filter_pixel(image, y, x, r):
    values = np.sort(window(image, y, x, r), axis=None)
    low = values[len(values) // 4]
    high = values[3 * len(values) // 4]
    kept = values[(values >= low) & (values <= high)]
    return kept.mean()


def main():
    size = int(sys.argv[1])
    rng = np.random.default_rng(3)
    yy, xx = np.mgrid[0:size, 0:size]
    image = np.sin(xx / 9.0) * np.cos(yy / 7.0) + 0.3 * rng.standard_normal((size, size))
    smooth = np.empty_like(image)
    # dlb: parallel
    for y in range(size):
        for x in range(size):
            smooth[y, x] = filter_pixel(image, y, x, 3)
    print(f"noise before {np.abs(np.diff(image)).mean():.12f}, after {np.abs(np.diff(smooth)).mean():.12f}")


if __name__ == "__main__":
    main()
