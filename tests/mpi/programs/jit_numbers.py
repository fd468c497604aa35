"""Numbers at the edges of what compiled code computes as Python and numpy do."""

import math

import numpy as np

n = 4
A = np.array([2**63 - 1, 5, 2**63 - 1, -(2**63)])
B = np.array([1, -1, 2, -1])
C, D = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
# dlb: parallel, jit
for i in range(n):
    if A[i] + 1 > A[i]:  # numpy's integers wrap
        C[i] = 1
    if A[i] - 1 < A[i]:
        C[i] += 2
    if A[i] * 2 // 2 == A[i]:
        C[i] += 4
    total = 0
    for j in range(n):
        total += A[j]
    if total + A[i] >= total:
        C[i] += 8
print(C)

# dlb: parallel, jit
for i in range(n):
    C[i] = A[i] // B[i]
    D[i] = A[i] % B[i] + (A[i] >> 63)
print(C, D)

try:
    # dlb: parallel, jit
    for i in range(n):
        C[i] = math.inf * (i + 1)
except OverflowError as error:
    print(error, i, C[:i])

values = np.array([1.0, math.nan, 2.0, math.inf])
try:
    # dlb: parallel, jit
    for i in range(n):
        C[i] = values[i]
except ValueError as error:
    print(error, i, C[:i])

large, halves, equal = 2**59 + 1, np.zeros(n), 0
# dlb: parallel, jit
for i in range(n):
    s = large + i
    halves[i] = s / 3
    if s == float(s):
        equal += 1
print(halves.tolist(), equal)

# dlb: parallel, jit
for i in range(n):
    s = 1
    for _ in range(4 * i):
        s += s
    halves[i] = s / 3 + 1 / s
    for _ in range(55 - 4 * i):
        s += s
    if s + 1 == float(s):
        equal += 1
    halves[i] += (s + 1) / 3
print(halves.tolist(), equal)

found = []
# dlb: parallel, jit
for i in range(2**63, 2**63 + 4):
    found.append(i + 1)
print(found)

rows = np.arange(12.0).reshape(4, 3)
divisors = np.array([1.0, 2.0, 0.0, 4.0])
# dlb: parallel, jit
for i in range(n):
    rows[i] += 1.0
    halves[i] = divisors[i]
print(rows, halves)

m = 300
x, y = np.random.default_rng(1).random(m) * 10, np.random.default_rng(2).random(m)
results = np.zeros((m, 6))
# dlb: parallel, jit
for i in range(m):
    results[i, 0] = math.hypot(x[i], y[i])
# dlb: parallel, jit
for i in range(m):
    results[i, 1] = math.pow(x[i], 2.0) + math.pow(y[i], -1.0)
    results[i, 2] = np.sqrt(x[i]) + np.exp(y[i]) * np.sin(x[i])
    results[i, 3] = x[i] ** 2.5 + x[i] ** 2 + x[i] ** -1
    results[i, 4] = math.tan(x[i]) + math.atan2(x[i], y[i])
print(results.tobytes().hex())

small = np.array([255, 254, 3, 4], dtype=np.uint8)
# dlb: parallel, jit
for i in range(n):
    halves[i] = x[small[i]]
print(halves.tolist())

z, w = x[:40] + 1j * y[:40], np.zeros(40, dtype=complex)
# dlb: parallel, jit
for i in range(40):
    w[i] = z[i] * z[i] + 2.0 - z[i]
print(w.tobytes().hex())
# dlb: parallel, jit
for i in range(40):
    w[i] = z[i] / (z[i] - 1.0)
print(w.tobytes().hex())

counts = np.zeros(40, dtype=np.int64)
lost = np.array([2**62 + 5, -(2**62), 3, -1] * 10)
amounts = np.arange(40) * 3 % 64
# dlb: parallel, jit
for i in range(40):
    x = i + 1
    x = (x ^ (x << 13)) & 0xFFFFFFFF
    x ^= x >> 17
    x = (x ^ (x << 5)) & 0xFFFFFFFF
    for b in range(32):
        counts[i] += (x >> b) & 1
    counts[i] ^= (lost[i] << amounts[i]) + (lost[i] >> amounts[i]) + ~lost[i] + ~(x | i) + (1 << amounts[i])
print(counts.tolist())

masks = []
# dlb: parallel, jit
for i in range(70):
    masks.append((3 << i) - 1)
print(masks)
try:
    # dlb: parallel, jit
    for i in range(40):
        counts[i] = 1 << 30 - i
except ValueError as error:
    print(error, i, counts[:i].tolist())

inside = np.zeros((20, 30), dtype=np.int64)
ends = np.zeros(20)
# dlb: parallel, jit
for i in range(20):
    s = 0j
    for j in range(30):
        c, p = complex(j / 10 - 2, i / 10 - 1), 0j
        steps = 0
        while steps < 50 and abs(p) < 2.0:
            p = p * p + c
            steps += 1
        inside[i, j] = steps
        s += p.conjugate() * z[j]
    ends[i] = s.real + s.imag**2 + z[i].imag - (z[i] * 2).conjugate().imag
print(inside.tolist(), ends.tobytes().hex())
try:
    # dlb: parallel, jit
    for i in range(20):
        ends[i] = abs(complex(1.6e307 * i, 1.6e307 * i))
except OverflowError as error:
    print(error, i, ends[:i].tolist())

for given in 1.5, 1.6e308 + 1.6e308j:
    try:
        # dlb: parallel, jit
        for i in range(20):
            ends[i] = abs(given)
    except OverflowError as error:
        print(error, i)
    else:
        print(ends.tolist())

edges, kinds = [], []
# dlb: parallel, jit
for i in range(6):
    k = 1
    for _ in range(61):
        k = k + k + 1  # 2**62 - 1
    edges.append(-(~k + ~k))
    edges.append(abs((-k & -2) + (-k & -2)))
print(edges)
# dlb: parallel, jit
for i in range(6):
    s = 0j
    for j in range(4):
        s += y[j] * 0.5
    kinds.append(s.real)
print(kinds, [type(each).__name__ for each in kinds])
# dlb: parallel, jit
for i in range(6):
    kinds.append(complex(i, 0) == values[i % 4])
print([type(each).__name__ for each in kinds])
wide = np.full(6, 1e308)
try:
    # dlb: parallel, jit
    for i in range(6):
        ends[i] = abs(complex(1.7, 1.7) * wide[i])
except OverflowError as error:
    print(error, i)
# dlb: parallel, jit
for i in range(20):
    ends[i] = np.abs(complex(y[i], y[i + 1]))
print(ends.tobytes().hex())
shifted, minus = np.int64(-(2**61)), -1
# dlb: parallel, jit
for i in range(6):
    counts[i] = (shifted << 2) // minus
print(counts[:6].tolist())
whole = []
# dlb: parallel, jit
for i in range(6):
    own = np.zeros(2, dtype=np.int64)
    own[0] = 2**60 + i
    k = i
    if i % 2:
        k = own[0]
    whole.append(int(k))
    k = int(k)
    ends[i] = k * 4 + k * 4
print(whole, [type(each).__name__ for each in whole], ends[:6].tolist())
tiny = [5e-324, 1e-310, 1e308, math.inf, math.nan, 0.0]
# dlb: parallel, jit
for i in range(6):
    ends[i] = math.hypot(tiny[i], tiny[i]) + math.hypot(y[i], i, -2)
print(ends[:6].tobytes().hex())
divisors = []
# dlb: parallel, jit
for i in range(20):
    divisors.append(math.gcd(counts[i] * 6, i) + math.gcd(-i, 4))
print(divisors, [type(each).__name__ for each in divisors[:2]])
