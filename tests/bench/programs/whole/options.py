"""An Asian option by Monte Carlo, a generator for each path: python options.py PATHS."""

import sys

import numpy as np

paths = int(sys.argv[1])
steps = 252
spot, strike, rate, sigma, years = 100.0, 102.0, 0.03, 0.25, 1.0
dt = years / steps
payoffs = np.zeros(paths)

seeds = np.random.SeedSequence(2024).spawn(paths)
# dlb: parallel
for k in range(paths):
    rng = np.random.default_rng(seeds[k])
    z = rng.standard_normal(steps)
    logs = np.cumsum((rate - 0.5 * sigma**2) * dt + sigma * np.sqrt(dt) * z)
    prices = spot * np.exp(logs)
    payoffs[k] = max(prices.mean() - strike, 0.0)

price = np.exp(-rate * years) * payoffs.mean()
error = payoffs.std() / np.sqrt(paths)
print(f"price {price:.10f} +- {error:.10f}")
