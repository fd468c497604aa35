"""Embeddings of one series and of several, and permutation entropies that use the tables made on import."""

import antropy
import numpy as np
from antropy.utils import _embed
from show import show

rng = np.random.default_rng(5)
x = rng.normal(size=300)
show("one", _embed(x, order=3, delay=2))
show("several", _embed(rng.normal(size=(4, 100)), order=4, delay=3))
show("entropy", [antropy.perm_entropy(x, order=3), antropy.perm_entropy(x, order=4)])
