"""Convolution over a batch of images, with a bias (NPBench conv2d_bias)."""

import numpy as np


def convolve(images, weights):
    size = weights.shape[0]
    count, channels = images.shape[0], images.shape[3]
    height, width = images.shape[1] - size + 1, images.shape[2] - size + 1
    result = np.empty((count, height, width, weights.shape[3]), dtype=np.float32)
    # dlb: parallel, BLOCK
    for i in range(height):
        # dlb: parallel, BLOCK
        for j in range(width):
            patch = images[:, i : i + size, j : j + size, :].copy()
            products = patch.reshape(count, size, size, channels, 1) * weights
            result[:, i, j, :] = np.sum(np.sum(np.sum(products, axis=1), axis=1), axis=1)
    return result


rng = np.random.default_rng(4)
images = rng.random((2, 7, 6, 3), dtype=np.float32)
weights = rng.random((3, 3, 3, 4), dtype=np.float32)
print((convolve(images, weights) + rng.random(4, dtype=np.float32)).tolist())
