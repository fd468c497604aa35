"""Contour integral of a transport problem's resolvent (NPBench contour_integral)."""

import numpy as np


def integrate(size, columns, slabs, hamiltonian, points, right):
    first = np.zeros((size, columns), dtype=complex)
    second = np.zeros((size, columns), dtype=complex)
    # dlb: parallel, BLOCK
    for i in range(len(points)):
        z = points[i]
        matrix = np.zeros((size, size), dtype=complex)
        # dlb: parallel, BLOCK
        for n in range(slabs + 1):
            power = np.power(z, slabs / 2 - n)
            matrix += power * hamiltonian[n]
        if size == columns:
            x = np.linalg.inv(matrix)
        else:
            x = np.linalg.solve(matrix, right)
        if abs(z) < 1.0:
            x = -x
        first += x
        second += z * x
    return first, second


rng = np.random.default_rng(3)
parts = rng.random((3, 6, 6)) + 1j * rng.random((3, 6, 6))
points = rng.random(16) + 1j * rng.random(16)
for part in integrate(6, 4, 2, parts, points, rng.random((6, 4)) + 0j):
    print(part.tolist())
