"""Autocorrelation times of chains with four parameters."""

import numpy as np
from emcee.autocorr import integrated_time
from show import show

rng = np.random.default_rng(1)
chains = rng.normal(size=(600, 5, 4))
for t in range(1, len(chains)):
    chains[t] += np.array([0.3, 0.5, 0.7, 0.8]) * chains[t - 1]
show("times", integrated_time(chains, quiet=True))
show("of one", integrated_time(chains[:, :, 2], quiet=True))
