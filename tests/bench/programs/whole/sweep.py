"""The logistic map over a grid of parameters, into a dict: python sweep.py VALUES."""

import math
import sys


def lyapunov(r, x0, steps):
    x, total = x0, 0.0
    for _ in range(steps):
        x = r * x * (1.0 - x)
        total += math.log(abs(r * (1.0 - 2.0 * x)) + 1e-12)
    return total / steps, x


count = int(sys.argv[1])
grid = [(2.8 + 1.2 * i / count, x0) for i in range(count) for x0 in (0.2, 0.4)]

results = {}
# dlb: parallel
for r, x0 in grid:
    exponent, last = lyapunov(r, x0, 4000)
    results[r, x0] = {"exponent": exponent, "last": last, "chaotic": exponent > 0}

chaotic = [key for key, value in results.items() if value["chaotic"]]
best = max(results, key=lambda key: results[key]["exponent"])
print(len(results), "points,", len(chaotic), "chaotic, first", chaotic[0], "most", best, results[best])
