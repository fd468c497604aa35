"""Compiled iterations over arrays of small integers and of 32-bit floats."""

import numpy as np

rng = np.random.default_rng(2)
img = rng.integers(0, 256, (30, 40), dtype=np.uint8)
wide = rng.integers(-500, 500, (30, 40)).astype(np.int32)
K = np.array([[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]) / 16
labels, marks, blurred = (
    np.zeros((30, 40), dtype=np.int32),
    np.zeros((30, 40), np.uint8),
    np.zeros((30, 40), np.float32),
)
# dlb: parallel, jit
for y in range(1, 29):
    for x in range(1, 39):
        s = 0.0
        for a in range(3):
            for b in range(3):
                s += img[y + a - 1, x + b - 1] * K[a, b]
        blurred[y, x] = s
        n = 0
        while n < 50 and img[y, x] > 5 * n:
            n += 1
        labels[y, x] = n * 3
        marks[y, x] = 255 if wide[y, x] < img[y, x] else 0
print(labels.tobytes().hex()[:200], marks.sum(), blurred.tobytes().hex()[:300])
out = np.zeros(30)
# dlb: parallel, jit
for y in range(30):
    t = 0
    for x in range(40):
        t += int(img[y, x]) * int(wide[y, x])
    out[y] = t / 40
    labels[y, 0] = img[y, 3]
print(out.tolist(), labels[:, 0].tolist())
low = np.zeros(300, np.int8)
try:
    # dlb: parallel, jit
    for i in range(300):
        low[i] = i - 100
except OverflowError as e:
    print(e, i)
half = np.zeros(30, np.float32)
# dlb: parallel, jit
for i in range(30):
    half[i] = 2**24 + i * i
print(half.tolist())
best = np.zeros((30, 40), np.uint8)
# dlb: parallel, jit
for y in range(1, 29):
    for x in range(1, 39):
        m = img[y, x]
        for dy in range(-1, 2):
            for dx in range(-1, 2):
                m = max(m, img[y + dy, x + dx])
        best[y, x] = m
print(best.tobytes().hex()[:400])
