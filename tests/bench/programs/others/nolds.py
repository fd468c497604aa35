import nolds
import numpy as np

x = nolds.logistic_map(0.34, 1500, r=4.0)
data = np.fromiter(x, dtype="float64")
noise = np.random.default_rng(2).normal(size=1500)
for series in (data, noise):
    print(repr(nolds.sampen(series, emb_dim=2)))
    print(repr(nolds.corr_dim(series, 3, fit="poly")))
    print(repr(nolds.lyap_r(series, emb_dim=6, lag=2, min_tsep=10, fit="poly")))
print(repr(nolds.hurst_rs(noise, fit="poly")), repr(nolds.dfa(noise, fit_exp="poly")))
