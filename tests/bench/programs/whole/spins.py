"""A class with arrays and methods: replicas of a spin chain: python spins.py SWEEPS."""

import sys

import numpy as np


class Chain:
    def __init__(self, replicas, length, coupling, seed):
        rng = np.random.default_rng(seed)
        self.coupling = coupling
        self.length = length
        self.spins = rng.choice([-1, 1], size=(replicas, length))
        self.temperatures = np.linspace(0.5, 4.0, replicas)
        self.energies = np.zeros(replicas)
        self.magnetisation = np.zeros(replicas)
        self.seeds = np.random.SeedSequence(seed).spawn(replicas)

    def sweep(self, k, rng):
        s = self.spins[k]
        t = self.temperatures[k]
        for start in (0, 1):
            neighbours = np.roll(s, 1) + np.roll(s, -1)
            cost = 2.0 * self.coupling * s * neighbours
            flip = rng.random(self.length) < np.exp(-np.maximum(cost, 0.0) / t)
            flip[1 - start :: 2] = False
            s[flip] *= -1

    def measure(self, k):
        s = self.spins[k]
        self.energies[k] = -self.coupling * np.mean(s * np.roll(s, 1))
        self.magnetisation[k] = abs(np.mean(s))

    def run(self, sweeps):
        # dlb: parallel
        for k in range(len(self.temperatures)):
            rng = np.random.default_rng(self.seeds[k])
            for _ in range(sweeps):
                self.sweep(k, rng)
            self.measure(k)


chain = Chain(replicas=40, length=1000, coupling=1.0, seed=7)
chain.run(int(sys.argv[1]))
for t, e, m in zip(chain.temperatures, chain.energies, chain.magnetisation):
    print(f"T={t:.3f} energy {e:.6f} magnetisation {m:.6f}")
