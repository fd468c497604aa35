"""Flat arrays: products, quotients and bits in subscripts, some under a condition looked at before the loop."""

import numpy as np

WIDTH, HEIGHT = 16, 9
image = np.arange(float(WIDTH * HEIGHT))

# dlb: parallel
for y in range(HEIGHT):
    for x in range(WIDTH):
        image[y * WIDTH + x] = image[y * WIDTH] + x


def turned(a):
    # dlb: parallel
    for k in range(WIDTH * HEIGHT):
        a[(k % WIDTH) * HEIGHT + k // WIDTH] = 2 * a[(k % WIDTH) * HEIGHT + k // WIDTH]


def narrow(a, stride, W, H):
    # dlb: parallel
    for y in range(H):
        for x in range(W):
            a[y * stride + x] = a[y * stride] + x


def volume(a, D, H, W):
    # dlb: parallel
    for z in range(D):
        for y in range(H):
            for x in range(W):
                a[(z * H + y) * W + x] = a[z * H * W] + x


def segments(f, size, n):
    # dlb: parallel
    for s in range(n // size):
        f[s * size : (s + 1) * size] = np.sort(f[s * size : (s + 1) * size])


def columns(A, n, m):
    # dlb: parallel
    for j in range(m):
        for i in range(1, n):
            A[i * m + j] = A[i * m + j] + A[(i - 1) * m + j]


def cells(A, n, m):
    # dlb: parallel
    for k in range(n * m):
        i, j = divmod(k, m)
        A[i, j] = A[i, j] + k


def butterflies(a, n):
    half = 1
    while half < n:
        # dlb: parallel
        for k in range(0, n, 2 * half):
            for j in range(half):
                t, u = a[k + j + half], a[k + j]
                a[k + j], a[k + j + half] = u + t, u - t
        half *= 2


def bits(a, n):
    # dlb: parallel
    for k in range(n):
        a[k << 1] = a[k << 1] + k
        a[(k << 1) | 1] = a[(k << 1) | 1] - k


turned(image)
narrow(image, 12, 10, 12)
volume(image, 3, 6, 8)
segments(image, 16, 144)
columns(image, 9, 16)
cells(image.reshape(9, 16), 9, 16)
butterflies(image, 128)
bits(image, 70)
print(image.tolist())
