"""Flat arrays: subscripts with products, quotients and bits, by rows, by segments and by elements."""

import numpy as np

WIDTH = 12
HEIGHT = 9
SIDE = 2 * WIDTH


def picture(a, W, H):
    # dlb: parallel
    for y in range(H):
        for x in range(W):
            a[y * W + x] = a[y * W + x] * 0.5 + x - y
    return a


def constant():
    a = np.arange(float(WIDTH * HEIGHT))
    # dlb: parallel
    for y in range(HEIGHT):
        row = y * WIDTH
        for x in range(WIDTH):
            a[row + x] += a[row] + SIDE
    return a


def framed(a, b, W, H):
    # dlb: parallel
    for y in range(1, H + 1):
        for x in range(1, W + 1):
            k = y * (W + 2) + x
            a[k] = b[k - 1] + b[k + 1] + b[k - (W + 2)] + b[k + W + 2] - a[k]
    return a


def narrow(a, stride, W, H):
    # dlb: parallel
    for y in range(H):
        for x in range(W):
            a[y * stride + x] = a[y * stride] + x
    return a


def volume(a, D, H, W):
    # dlb: parallel
    for z in range(D):
        for y in range(H):
            for x in range(W):
                a[(z * H + y) * W + x] = a[(z * H + y) * W + x] + 100 * z + 10 * y + x
    # dlb: parallel
    for y in range(H):
        for z in range(D):
            for x in range(W):
                a[(z * H + y) * W + x] = a[(z * H + y) * W + x] * (y + 1)
    # dlb: parallel
    for x in range(W):
        for z in range(D):
            for y in range(H):
                a[(z * H + y) * W + x] = a[(z * H + y) * W + x] - x
    return a


def segments(f, size, n):
    # dlb: parallel
    for s in range((n + size - 1) // size):
        low = s * size
        high = min(low + size, n)
        f[low:high] = np.cumsum(f[low:high])
    # dlb: parallel
    for s in range(n // size):
        f[s * size : (s + 1) * size] = f[s * size : (s + 1) * size][::-1].copy()
    return f


def shares(f, n, P):
    # dlb: parallel
    for p in range(P):
        for k in range(p * n // P, (p + 1) * n // P):
            f[k] = f[k] * 10 + p
    return f


def columns(A, n, m):
    # dlb: parallel
    for j in range(m):
        for i in range(1, n):
            A[i * m + j] = A[i * m + j] + A[(i - 1) * m + j]
    return A


def strided(A, n, P):
    # dlb: parallel
    for p in range(P):
        for k in range(p, n, P):
            A[k] = A[k] * 2 + p
    return A


def cells(A):
    n, m = A.shape
    # dlb: parallel
    for k in range(n * m):
        A[k // m, k % m] = A[k // m, k % m] + k
    # dlb: parallel
    for k in range(n * m):
        i, j = divmod(k, m)
        A[i, j] = A[i, j] * 2 - j
    return A


def turned(A, B, n, m):
    # dlb: parallel
    for k in range(n * m):
        i = k // m
        j = k - i * m
        B[j * n + i] = A[k] - B[j * n + i]
    return B


def transform(values, n):
    a = values.copy()
    half = 1
    while half < n:
        # dlb: parallel
        for k in range(0, n, 2 * half):
            for j in range(half):
                w = np.exp(-1j * np.pi * j / half)
                t = w * a[k + j + half]
                u = a[k + j]
                a[k + j] = u + t
                a[k + j + half] = u - t
        half *= 2
    return a


def blocks(values, n):
    a = values.copy()
    half = n // 2
    while half >= 1:
        # dlb: parallel
        for b in range(n // (2 * half)):
            for j in range(half):
                u, v = a[b * 2 * half + j], a[b * 2 * half + j + half]
                a[b * 2 * half + j], a[b * 2 * half + j + half] = u + v, u - v
        half //= 2
    return a


def bits(a, n):
    # dlb: parallel
    for k in range(n):
        a[k << 1] = a[k << 1] + k
        a[(k << 1) | 1] = a[(k << 1) | 1] - k
    B = np.zeros((n, 2))
    # dlb: parallel
    for k in range(2 * n):
        B[k >> 1, k & 1] = B[k >> 1, k & 1] + k
    # dlb: parallel
    for k in range(n):
        a[2 * k] = a[(2 * k) ^ 1] * 3
    return a.tolist(), B.tolist()


def show(array):
    print(array.tolist() if isinstance(array, np.ndarray) else array)


show(picture(np.arange(108.0), 12, 9))
show(picture([float(v) for v in range(35)], 7, 5))
show(constant())
show(framed(np.arange(88.0), np.arange(88.0) ** 2, 6, 9))
show(narrow(np.arange(60.0), 7, 5, 8))
show(narrow(np.arange(60.0), 4, 5, 8))  # rows overlap
show(volume(np.arange(120.0), 5, 4, 6))
show(segments(np.arange(50.0), 7, 50))
show(shares(np.arange(53.0), 53, 8))
show(columns(np.arange(60.0), 6, 10))
show(strided(np.arange(40.0), 37, 5))
show(cells(np.arange(56.0).reshape(8, 7)))
show(turned(np.arange(60.0), np.ones(60), 6, 10))
show(np.round(transform(np.arange(16) + 0j, 16), 9))
show(blocks(np.arange(32.0), 32))
show(bits(np.arange(30.0), 15))
