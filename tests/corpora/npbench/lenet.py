"""LeNet-5 inference: convolutions and maximum pooling (NPBench lenet)."""

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


def pool(x):
    shape = (x.shape[0], x.shape[1] // 2, x.shape[2] // 2, x.shape[3])
    result = np.empty(shape, dtype=x.dtype)
    # dlb: parallel, BLOCK
    for i in range(x.shape[1] // 2):
        # dlb: parallel, BLOCK
        for j in range(x.shape[2] // 2):
            # dlb: parallel, BLOCK
            for k in range(x.shape[0]):
                # dlb: parallel, BLOCK
                for c in range(x.shape[3]):
                    result[k, i, j, c] = np.max(x[k, 2 * i : 2 * i + 2, 2 * j : 2 * j + 2, c])
    return result


def relu(x):
    return np.maximum(x, 0)


rng = np.random.default_rng(5)
first, second = rng.random((3, 3, 1, 2), dtype=np.float32), rng.random((3, 3, 2, 3), dtype=np.float32)
dense = rng.random((12, 5), dtype=np.float32)
x = pool(relu(convolve(rng.random((2, 14, 14, 1), dtype=np.float32) - 0.5, first) - 1))
x = pool(relu(convolve(x, second) - 2))
print(relu(x.reshape(2, 12) @ dense).tolist())
