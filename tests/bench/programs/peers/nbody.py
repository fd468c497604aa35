"""Bodies that attract each other: the forces of all pairs, then a step."""

import math
import sys

from peer import serve


def nbody(x, v, mass, force, steps):
    n = x.shape[0]
    # dlb: iterate
    for _ in range(steps):
        # dlb: parallel, BLOCK(force), WHOLE(x, mass), jit
        for i in range(n):
            fx = 0.0
            fy = 0.0
            fz = 0.0
            for j in range(n):
                dx = x[j, 0] - x[i, 0]
                dy = x[j, 1] - x[i, 1]
                dz = x[j, 2] - x[i, 2]
                d2 = dx * dx + dy * dy + dz * dz + 1e-3
                w = mass[j] / (d2 * math.sqrt(d2))
                fx += w * dx
                fy += w * dy
                fz += w * dz
            force[i, 0] = fx
            force[i, 1] = fy
            force[i, 2] = fz
        # dlb: parallel, jit
        for i in range(n):
            for c in range(3):
                v[i, c] += 1e-4 * force[i, c]
                x[i, c] += 1e-4 * v[i, c]
    return x


if __name__ == "__main__":
    serve(nbody, "nbody", tuple(int(word) for word in sys.argv[1:]))
