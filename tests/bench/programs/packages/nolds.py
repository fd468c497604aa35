"""The measures of a logistic map whose loops are proposed."""

import nolds
import numpy as np
from nolds import examples
from nolds.measures import _genhurst
from show import show

data = np.array(list(nolds.logistic_map(0.34, 400, r=3.9)))
show("lyap_r", nolds.lyap_r(data, emb_dim=5, lag=1, min_tsep=5, trajectory_len=12, fit="poly"))
show("corr_dim", nolds.corr_dim(data, 3, fit="poly"))
walk = np.cumsum(np.random.default_rng(3).normal(size=300))
show("genhurst", [_genhurst(walk, q) for q in (1, 2)])
examples.sampen_default_tolerance()
examples.hurst_compare_nvals(data)
