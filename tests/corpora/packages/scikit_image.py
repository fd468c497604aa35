"""Images (scikit-image: transform, morphology, feature, filters)."""

import numpy as np


def rotated(image, angle):
    rows, columns = np.indices(image.shape)
    middle = image.shape[0] // 2
    y = np.cos(angle) * (rows - middle) - np.sin(angle) * (columns - middle) + middle
    x = np.sin(angle) * (rows - middle) + np.cos(angle) * (columns - middle) + middle
    y, x = (
        np.clip(y.round().astype(int), 0, len(image) - 1),
        np.clip(x.round().astype(int), 0, len(image) - 1),
    )
    return image[y, x]


def radon(image, theta):
    """transform.radon: a projection, in a column, for each angle."""
    sinogram = np.zeros((image.shape[0], len(theta)))
    # dlb: parallel, BLOCK
    for i, angle in enumerate(np.deg2rad(theta)):
        sinogram[:, i] = rotated(image, angle).sum(0)
    return sinogram


def finite_radon(a):
    """transform.frt2: the rows are rolled on from projection to projection."""
    ai = a.copy()
    n = ai.shape[0]
    f = np.empty((n + 1, n), np.uint32)
    f[0] = ai.sum(axis=0)
    # Not legal: each projection rolls on the rows that the one before left.
    # dlb: parallel, BLOCK
    for m in range(1, n):
        # dlb: parallel, BLOCK
        for row in range(1, n):
            ai[row] = np.roll(ai[row], -row)
        f[m] = ai.sum(axis=0)
    f[n] = ai.sum(axis=1)
    return f


def hull(mask):
    rows, columns = np.nonzero(mask)
    filled = np.zeros_like(mask)
    filled[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1] = True
    return filled


def hull_object(labelled):
    """morphology.convex_hull_object: the hulls of all objects in one image."""
    result = np.zeros(labelled.shape, dtype=bool)
    # Legal, but no reduction is read from `np.logical_or`: `result |= one` would do
    # dlb: parallel, BLOCK
    for i in range(1, labelled.max() + 1):
        one = hull(labelled == i)
        result = np.logical_or(result, one)
    return result


def normalize_blocks(histogram, rows, columns):
    """feature.hog: blocks of cells that overlap, normalized."""
    blocks = np.zeros(
        (histogram.shape[0] - rows + 1, histogram.shape[1] - columns + 1, rows, columns, histogram.shape[2])
    )
    # dlb: parallel, BLOCK
    for r in range(blocks.shape[0]):
        for c in range(blocks.shape[1]):
            block = histogram[r : r + rows, c : c + columns, :]
            blocks[r, c, :] = block / (np.sum(np.abs(block)) + 1e-5)
    return blocks


def smoothed(image, width):
    kernel = np.exp(-(np.arange(-3, 4) ** 2) / (2.0 * width**2))
    return np.apply_along_axis(np.convolve, 0, image, kernel / kernel.sum(), "same")


def scale_space(image, widths):
    """feature.blob_log: a plane of a cube for each scale."""
    cube = np.empty((*image.shape, len(widths)))
    # dlb: parallel, BLOCK
    for i, s in enumerate(widths):
        cube[..., i] = (image - smoothed(image, s)) * np.mean(s) ** 2
    return cube


def sato(image, widths):
    """filters.sato: the largest response of all scales at each pixel."""
    filtered_max = np.zeros_like(image)
    # Legal, but no reduction is read from `np.maximum` without `out=filtered_max`
    # dlb: parallel, BLOCK
    for width in widths:
        response = width**2 * np.abs(image - smoothed(image, width))
        filtered_max = np.maximum(filtered_max, response)
    return filtered_max


def channels(image, widths):
    """restoration and filters, channel by channel: `for c in range(n): out[..., c] = f(image[..., c])`."""
    out = np.empty_like(image)
    # dlb: parallel, BLOCK
    for c in range(image.shape[-1]):
        out[..., c] = smoothed(image[..., c], widths[c])
    return out


def match(first, second):
    """feature.match_descriptors, brute: the nearest of the second for each of the first."""
    pairs = []
    # dlb: parallel, BLOCK
    for i, descriptor in enumerate(first):
        distances = np.sum((second - descriptor) ** 2, axis=1)
        j = int(np.argmin(distances))
        if np.argmin(np.sum((first - second[j]) ** 2, axis=1)) == i:
            pairs.append((i, j))
    return pairs


def draw(canvas, centres, size):
    """feature.daisy(visualize=True): marks that may meet, painted one after the other."""
    # dlb: parallel, BLOCK
    for k, (r, c) in enumerate(centres):
        canvas[r : r + size, c : c + size] = k + 1


rng = np.random.default_rng(6)
image = rng.random((11, 11))
print(radon(image, np.linspace(0, 150, 6)).tolist())
print(finite_radon((image * 10).astype(int)[:7, :7]).tolist())
labelled = np.zeros((9, 9), dtype=int)
labelled[1:3, 1], labelled[2, 1:4], labelled[5:8, 5], labelled[7, 5:8] = 1, 1, 2, 2
print(hull_object(labelled).astype(int).tolist())
print(normalize_blocks(rng.random((6, 5, 3)), 2, 2).sum(axis=(2, 3, 4)).tolist())
print(scale_space(image, [1.0, 2.0, 3.0]).sum(axis=0).tolist(), sato(image, range(1, 6, 2)).tolist())
print(channels(rng.random((7, 6, 3)), [1.0, 1.5, 2.0]).tolist())
print(match(rng.random((8, 4)), rng.random((9, 4))))
canvas = np.zeros((9, 9), dtype=int)
draw(canvas, [(0, 0), (3, 3), (5, 0), (0, 6)], 3)
print(canvas.tolist())
