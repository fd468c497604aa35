"""Adjoint convolution: how much a line of handwriting resembles itself, shifted by i pixels.

The signal is n * n pixels: handwritten digits (scikit-learn's 8x8 images) one after the other, scan line by
scan line, less their rounded mean. Iteration i sums over the pixels from i on:

    A[i] = x * (B[i] C[0] + B[i+1] C[1] + ... + B[n*n-1] C[n*n-1-i])

Shifts by 8 (the next scan line) and by 640 stand out: the writers wrote 0 1 2 ... 9 again and again.

Cost: iteration i takes n * n - i steps, a triangle.

    python samples/adjoint_convolution.py [N]      N * N pixels, N at most 339
"""

import sys
import zlib

import numpy as np
from sklearn.datasets import load_digits

n = int(sys.argv[1]) if len(sys.argv) > 1 else 48

pixels = load_digits().images.astype(np.int64).ravel()[: n * n]
B = (pixels - pixels.sum() // pixels.size).astype(float)
C = B.copy()
A = np.zeros(n * n)
x = 1.0 / (n * n)

# dlb: parallel, BLOCK(A), WHOLE(B, C)
for i in range(n * n):
    for j in range(i, n * n):
        A[i] += x * B[j] * C[j - i]

shifts = sorted(range(1, n * n), key=lambda shift: (-A[shift], shift))
print(f"autocorrelation of {n * n} pixels")
print(f"mean square: {A[0]:.3f}")
print("strongest shifts: " + ", ".join(f"{shift} ({A[shift] / A[0]:.3f})" for shift in shifts[:5]))
print(f"crc32 of A: {zlib.crc32(A.tobytes()):08x}")
