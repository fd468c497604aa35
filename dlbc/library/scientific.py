"""Rows for scipy: functions whose results are new arrays. Tests ask scipy itself whether they hold.

Functions of scipy that have no row change nothing that iterations share, and may give their arguments back.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from dlbc.library.row import ResultKind, family, table

_new = partial(family, result=ResultKind.NEW)
_ndimage = partial(_new, "scipy.ndimage.")
_signal = partial(_new, "scipy.signal.")
_linalg = partial(_new, "scipy.linalg.")

SCIPY: Final = table(
    _ndimage("laplace", out_at=1),
    _ndimage(
        "convolve correlate gaussian_gradient_magnitude gaussian_laplace label map_coordinates prewitt shift "
        "sobel uniform_filter zoom",
        out_at=2,
    ),
    _ndimage(
        "binary_closing binary_opening convolve1d correlate1d gaussian_filter maximum_filter median_filter "
        "minimum_filter uniform_filter1d",
        out_at=3,
    ),
    _ndimage(
        "affine_transform binary_dilation binary_erosion distance_transform_edt gaussian_filter1d "
        "grey_closing grey_dilation grey_erosion grey_opening percentile_filter rank_filter rotate",
        out_at=4,
    ),
    _ndimage("center_of_mass find_objects maximum_position minimum_position"),
    _signal(
        "argrelextrema argrelmax argrelmin butter cheby1 cheby2 coherence convolve convolve2d correlate "
        "correlate2d csd decimate fftconvolve filtfilt find_peaks firwin hilbert lfilter medfilt medfilt2d "
        "oaconvolve peak_prominences peak_widths periodogram resample_poly savgol_filter sosfilt sosfiltfilt "
        "spectrogram stft welch",
    ),
    _signal("detrend", in_place_at=4),
    _new("scipy.fft.", "fftfreq rfftfreq"),
    _new("scipy.fft.", "fft hfft ifft ihfft irfft rfft", in_place_at=4),
    _new("scipy.fft.", "dct dst idct idst", in_place_at=5),
    _linalg("expm norm pinv"),
    _linalg("det inv qr svdvals", in_place_at=1),
    _linalg("cholesky eigvals lu", in_place_at=2),
    _linalg("eigvalsh lstsq solve svd", in_place_at=3),
    _linalg("eig eigh", in_place_at=4),
    _new("scipy.integrate.", "cumulative_simpson cumulative_trapezoid simpson trapezoid"),
    _new("scipy.spatial.distance.", "cdist cosine euclidean pdist"),
    _new(
        "scipy.special.",
        "digamma ellipe ellipk erf erfc erfinv expit gamma gammaln i0 j0 j1 k0 loggamma logit y0 y1",
        out_at=1,
    ),
    _new("scipy.special.", "beta betaln binom iv jv kv xlogy yv zeta", out_at=2),
    _new("scipy.special.", "comb factorial logsumexp softmax"),
    _new("scipy.stats.", "zscore"),
)
