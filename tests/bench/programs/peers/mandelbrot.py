"""The Mandelbrot set: how many steps each point stays within 2."""

import sys

from peer import serve


def mandelbrot(counts, limit):
    n, m = counts.shape
    # dlb: parallel, BLOCK(counts), jit
    for i in range(n):
        for j in range(m):
            a = 3.0 * j / m - 2.0
            b = 3.0 * i / n - 1.5
            x = 0.0
            y = 0.0
            steps = 0
            while steps < limit and x * x + y * y <= 4.0:
                further = x * x - y * y + a
                y = 2.0 * x * y + b
                x = further
                steps += 1
            counts[i, j] = steps
    return counts


if __name__ == "__main__":
    serve(mandelbrot, "mandelbrot", tuple(int(word) for word in sys.argv[1:]))
