"""Functions of statistics and time series whose loops are proposed."""

import numpy as np
import pandas as pd
from show import show
from statsmodels.base import l1_solvers_common as l1
from statsmodels.distributions.edgeworth import ExpandedNormal
from statsmodels.distributions.tools import nearest_matrix_margins
from statsmodels.nonparametric import kernels
from statsmodels.robust import tools as robust
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.stattools import medcouple
from statsmodels.tools import grouputils, sequences
from statsmodels.tools.tools import pinv_extended
from statsmodels.tools.validation import array_like
from statsmodels.tsa import tsatools, varma_process
from statsmodels.tsa._bds import bds
from statsmodels.tsa.filters.cf_filter import cffilter
from statsmodels.tsa.statespace import tools
from statsmodels.tsa.vector_ar import util

rng = np.random.default_rng(8)
params, alpha = rng.normal(0, 0.1, 30), rng.random(30)
print(l1.qc_results(params, alpha, lambda p: np.sign(p) * alpha * 0.99, 0.03))
print(l1.qc_results(params, np.full(30, 1.0), lambda p: p * 1e3, 0.03, qc_verbose=True))
for mode in ("auto", "size"):
    for part in l1.do_trim_params(params.copy(), 30, alpha, lambda p: p, True, mode, 0.05, 0.2):
        show(f"trimmed, {mode}", part)
show("expansion", ExpandedNormal([0.2, 1.1, 0.1, 0.05]).pdf(np.linspace(-2, 2, 9)))
show("expansion of an array", ExpandedNormal(np.array([0.2, 1.1, 0.1, 0.05])).pdf(np.linspace(-2, 2, 9)))
show("margins", nearest_matrix_margins(rng.random((5, 6, 4))))
levels, others = rng.integers(0, 6, 80), rng.integers(0, 6, 80)
show("convolution", kernels.wang_ryzin_convolution(0.3, levels, others))
show("unordered", kernels.aitchison_aitken_convolution(0.3, levels, others))
show("cumulated", kernels.aitchison_aitken_cdf(0.3, levels, 3))
show("ordered", kernels.wang_ryzin_cdf(0.3, levels, 3))
print(len(robust.tukeybiweight_mvmean_eff_d), robust.tukeybiweight_mvshape_eff_d[7, 0.95])
for part in aggregate_raters(rng.integers(0, 5, (40, 7))):
    show("raters", part)
show("medcouple", medcouple(rng.gamma(2.0, 1.0, 150)))
x = rng.random((60, 4))
show("sums", grouputils.group_sums(x, levels[:60], use_bincount=False))
show("discrepancy", sequences.discrepancy(x))
show("sequence", sequences.van_der_corput(70, 3))
for part in pinv_extended(x @ rng.random((4, 6))):
    show("inverse", part)
show("checked", array_like(x, "x", ndim=2, shape=(60, 4)))
series = np.cumsum(rng.normal(size=90))
for part in bds(series, max_dim=5):
    show("bds", part)
for part in cffilter(series):
    show("filtered", part)
matrices = rng.random((4, 3, 3)) * 0.2
show("companion", tools.companion_matrix([1, *[-m for m in matrices]]))
unconstrained = rng.normal(size=9)
show("stationary", tools.constrain_stationary_univariate(unconstrained))
show(
    "and back", tools.unconstrain_stationary_univariate(tools.constrain_stationary_univariate(unconstrained))
)
variance = np.eye(3) + 0.1
for transform in (False, True):
    found, error = tools.constrain_stationary_multivariate(list(matrices), variance, transform)
    show("multivariate", np.array(found))
back = tools.unconstrain_stationary_multivariate([m * 0.5 for m in matrices], variance)
show("unconstrained", np.array(back[0]))
show("acovf", np.array(tools._compute_multivariate_sample_acovf(x, 7)))
show(
    "coefficients",
    np.array(
        tools._compute_multivariate_acovf_from_coefficients(
            [m * 0.5 for m in matrices], variance, maxlag=9, forward_autocovariances=True
        )
    ),
)
show("pacf", np.array(tools._compute_multivariate_sample_pacf(x, 5)))
show("trend", tools.prepare_trend_data(np.array([1, 1, 0, 1]), 3, 40))
for part in [*tools._atleast_1d(3.0, None, x), *tools._atleast_2d(3.0, None, series, x)]:
    show("at least", part if part is not None else [])
for original in ("ex", "in"):
    show("lags", tsatools.lagmat(x, 5, original=original))
frame = pd.DataFrame(x, columns=list("abcd"))
print(list(tsatools.lagmat(frame, 3, use_pandas=True).columns))
for transform in (tsatools._ar_transparams, tsatools._ma_transparams):
    show(transform.__name__, transform(unconstrained.copy()))
for transform in (tsatools._ar_invtransparams, tsatools._ma_invtransparams):
    show(transform.__name__, transform(rng.random(9) * 0.1))
lagged = np.concatenate([np.eye(3)[None], -matrices])
show("inverted", varma_process.varinvertapp(lagged, 20) if hasattr(varma_process, "varinvertapp") else lagged)
for name in ("vargenerate", "varfilter", "varinversefilter"):
    arguments = (
        (rng.normal(size=(40, 3)), lagged) if name == "varfilter" else (lagged, rng.normal(size=(40, 3)))
    )
    arguments = (lagged, 20) if name == "varinversefilter" else arguments
    show(name, getattr(varma_process, name)(*arguments))
show("reduced", varma_process.VarmaPoly(lagged).reduceform(lagged))
print(util.make_lag_names(["foo", "bar"], 4, 1, x))
show("simulated", util.varsim(matrices, None, np.eye(3), steps=30, seed=4))
show("vech", util.vech(rng.random((7, 7))))
show("seasons", util.seasonal_dummies(12, 60, first_period=5, centered=True))
