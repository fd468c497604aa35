"""Rows for numpy. Tests ask numpy itself whether they hold."""

from __future__ import annotations

from functools import partial
from typing import Final

from dlbc.library import result_aliases
from dlbc.library.row import CostKind, EffectKind, LibraryCall, Reads, ResultKind, family, table

_numpy = partial(family, "numpy.")
_NEW, _VIEW = ResultKind.NEW, ResultKind.VIEW
_LIKE, _REDUCTION = CostKind.LIKE, CostKind.REDUCTION
_UNARY = {"result": _NEW, "out_at": 1, "elementwise": True}
_BINARY = {"result": _NEW, "out_at": 2, "elementwise": True}

NUMPY: Final = table(
    # Element by element
    _numpy(
        "abs absolute acos acosh arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh "
        "bitwise_count bitwise_invert bitwise_not cbrt ceil conj conjugate cos cosh deg2rad degrees exp "
        "exp2 expm1 fabs fix floor invert isfinite isinf isnan isnat isneginf isposinf log log10 log1p log2 "
        "logical_not negative positive rad2deg radians reciprocal rint sign signbit sin sinh spacing sqrt "
        "square tan tanh trunc",
        **_UNARY,
    ),
    _numpy("frexp modf", result=_NEW, out_at=1),
    _numpy(
        "arctan2 atan2 bitwise_left_shift bitwise_right_shift copysign divide equal float_power "
        "floor_divide fmax fmin fmod gcd greater greater_equal heaviside hypot lcm ldexp left_shift less "
        "less_equal logaddexp logaddexp2 logical_xor mod nextafter not_equal pow power remainder "
        "right_shift true_divide",
        **_BINARY,
    ),
    _numpy("add", operator="+", **_BINARY),
    _numpy("subtract", operator="-", **_BINARY),
    _numpy("multiply", operator="*", **_BINARY),
    _numpy("bitwise_and", operator="&", **_BINARY),
    _numpy("bitwise_or", operator="|", **_BINARY),
    _numpy("bitwise_xor", operator="^", **_BINARY),
    _numpy("maximum", operator="max", **_BINARY),
    _numpy("minimum", operator="min", **_BINARY),
    _numpy("logical_and", operator="and", **_BINARY),
    _numpy("logical_or", operator="or", **_BINARY),
    _numpy("divmod", result=_NEW, out_at=2),
    _numpy("clip", result=_NEW, out_at=3, elementwise=True),
    _numpy("where", result=_NEW, elementwise=True),
    _numpy("around round round_", rule=result_aliases.of_first, out_at=2, elementwise=True),
    _numpy("nan_to_num", rule=result_aliases.of_nan_to_num, in_place_at=1),
    # Products and reductions
    _numpy("inner vdot", result=_NEW, cost=CostKind.PRODUCT),
    _numpy("dot matmul", result=_NEW, out_at=2, cost=CostKind.PRODUCT),
    _numpy("matvec outer vecdot vecmat", result=_NEW, out_at=2),
    _numpy("average count_nonzero linalg.norm trapezoid", result=_NEW, cost=_REDUCTION),
    _numpy("all amax amin any argmax argmin max min ptp", result=_NEW, out_at=2, cost=_REDUCTION),
    _numpy("nanargmax nanargmin nanmax nanmin", result=_NEW, out_at=2),
    _numpy("mean nanmean nansum prod std sum var", result=_NEW, out_at=3, cost=_REDUCTION),
    _numpy("nancumprod nancumsum nanprod nanstd nanvar", result=_NEW, out_at=3),
    _numpy("median", result=_NEW, out_at=2, in_place_at=3, cost=_REDUCTION),
    _numpy("nanmedian", result=_NEW, out_at=2, in_place_at=3),
    _numpy("percentile quantile", result=_NEW, out_at=3, in_place_at=4, cost=_REDUCTION),
    _numpy("nanpercentile nanquantile", result=_NEW, out_at=3, in_place_at=4),
    _numpy("trace", result=_NEW, out_at=5, cost=_REDUCTION),
    # Makers of arrays
    _numpy("arange empty full ones zeros", result=_NEW, cost=CostKind.CREATION),
    _numpy("empty_like full_like ones_like zeros_like", result=_NEW, reads=Reads.LIKE, cost=_LIKE),
    _numpy("argsort copy sort", result=_NEW, cost=_LIKE),
    _numpy("cumprod cumsum", result=_NEW, out_at=3, cost=_LIKE),
    _numpy("array", rule=result_aliases.of_array, cost=_LIKE),
    _numpy("choose concat concatenate stack", result=_NEW, out_at=2),
    _numpy("compress take", result=_NEW, out_at=3),
    _numpy("is_busday", result=_NEW, out_at=4),
    _numpy("busday_count", result=_NEW, out_at=5),
    _numpy("busday_offset", result=_NEW, out_at=6),
    _numpy(
        "allclose angle append argwhere array_equal bincount column_stack convolve corrcoef correlate cov "
        "cross delete digitize dstack eye flatnonzero genfromtxt geomspace gradient hstack i0 identity in1d "
        "indices insert interp intersect1d isclose isin kron lexsort linalg.cholesky linalg.det linalg.eig "
        "linalg.eigh linalg.eigvals linalg.eigvalsh linalg.inv linalg.lstsq linalg.matrix_rank linalg.pinv "
        "linalg.qr linalg.solve linalg.svd linspace loadtxt logspace nonzero pad polyfit polyval repeat "
        "roll roots searchsorted select setdiff1d sinc tensordot tile tri tril triu union1d unique unwrap "
        "vander vstack",
        result=_NEW,
    ),
    family("numpy.fft.", "fftfreq", result=_NEW),
    family("numpy.fft.", "fft hfft ifft ihfft irfft rfft", result=_NEW, out_at=4),
    family("numpy.fft.", "fft2 ifft2 irfft2 irfftn rfft2 rfftn", rule=result_aliases.of_axes, out_at=4),
    family("numpy.fft.", "fftn ifftn", rule=result_aliases.of_first, out_at=4),
    # May be an argument, by rule
    _numpy(
        "bool_ complex128 complex64 float16 float32 float64 int16 int32 int64 int8 intp uint16 uint32 "
        "uint64 uint8",
        rule=result_aliases.of_first,
    ),
    _numpy("diff", rule=result_aliases.of_diff),
    _numpy("einsum", rule=result_aliases.of_einsum),
    _numpy("histogram", rule=result_aliases.of_bins(1)),
    _numpy("histogram2d", rule=result_aliases.of_bins(2)),
    _numpy("linalg.matrix_power", rule=result_aliases.of_power),
    _numpy("meshgrid", rule=result_aliases.of_meshgrid),
    # Views
    _numpy("asarray", result=_VIEW, cost=_LIKE),
    _numpy(
        "array_split asanyarray ascontiguousarray atleast_1d atleast_2d atleast_3d broadcast "
        "broadcast_arrays broadcast_to diagonal expand_dims flip fliplr flipud hsplit imag ix_ moveaxis "
        "ravel real reshape rollaxis rot90 split squeeze swapaxes transpose vsplit",
        result=_VIEW,
    ),
    _numpy("nditer", result=ResultKind.HANDLE),
    _numpy("ndim shape size", result=_NEW, reads=Reads.FORM),
    _numpy("byte_bounds may_share_memory result_type shares_memory", reads=Reads.NOTHING),
    # Functions that call functions, or read what they are given to its end
    _numpy("apply_along_axis frompyfunc vectorize", calls=(0,)),
    _numpy("fromfunction", rule=result_aliases.of_every, calls=(0,), applies=True),
    _numpy("piecewise", result=_NEW, calls=(2,)),
    _numpy("fromiter", result=_NEW, exhausts=True),
    # Effects
    _numpy("copyto", stores_at=0),
    _numpy("fill_diagonal place put put_along_axis putmask", stores_at=0),
    _numpy("save savetxt savez savez_compressed", effect=EffectKind.FILE),
    family("numpy.random.", "shuffle", effect=EffectKind.RANDOM, stores_at=0),
    family(
        "numpy.random.",
        "Generator MT19937 PCG64 Philox RandomState SFC64 SeedSequence default_rng",
        result=_NEW,
        generator=True,
    ),
)

#: What the methods of numpy's universal functions do: `np.add.at`, `np.add.reduce`.
UFUNC_METHODS: Final = {
    "at": LibraryCall(stores_at=0),
    "reduce": LibraryCall(out_at=3),
    "accumulate": LibraryCall(out_at=3),
    "reduceat": LibraryCall(out_at=4),
}
