"""Scattering self-energies of electrons and phonons (NPBench scattering_self_energies)."""

import numpy as np


def self_energies(neighbours, dh, g, d, sigma):
    # dlb: parallel, BLOCK
    for k in range(g.shape[0]):
        # dlb: parallel, BLOCK
        for e in range(g.shape[1]):
            # dlb: parallel, BLOCK
            for q in range(d.shape[0]):
                # dlb: parallel, BLOCK
                for w in range(d.shape[1]):
                    # dlb: parallel, BLOCK
                    for i in range(d.shape[-2]):
                        # dlb: parallel, BLOCK
                        for j in range(d.shape[-1]):
                            # dlb: parallel, BLOCK
                            for a in range(neighbours.shape[0]):
                                # dlb: parallel, BLOCK
                                for b in range(neighbours.shape[1]):
                                    if e - w >= 0:
                                        left = g[k, e - w, neighbours[a, b]] @ dh[a, b, i]
                                        right = dh[a, b, j] * d[q, w, a, b, i, j]
                                        sigma[k, e, a] += left @ right


rng = np.random.default_rng(15)
atoms, near, orbitals = 3, 2, 2
neighbours = rng.integers(0, atoms, (atoms, near))
dh = rng.random((atoms, near, 2, orbitals, orbitals)) + 1j * rng.random((atoms, near, 2, orbitals, orbitals))
g = rng.random((3, 4, atoms, orbitals, orbitals)) + 1j * rng.random((3, 4, atoms, orbitals, orbitals))
d = rng.random((2, 2, atoms, near, 2, 2)) + 1j * rng.random((2, 2, atoms, near, 2, 2))
sigma = np.zeros_like(g)
self_energies(neighbours, dh, g, d, sigma)
print(sigma.tolist())
