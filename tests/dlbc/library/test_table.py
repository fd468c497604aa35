"""What the table says that numpy gives back of arguments, and stores into, held against numpy itself."""

from __future__ import annotations

import ast
import importlib
import inspect
import operator
import warnings
from collections.abc import Iterator
from contextlib import suppress
from types import ModuleType

import numpy as np
import pytest

from dlbc.diagnostics.diagnostic import Severity
from dlbc.library.methods import METHODS
from dlbc.library.result_aliases import NOTHING
from dlbc.library.row import LibraryCall, family, table
from dlbc.library.table import TABLE, given_back, is_new, lookup, names_where, works_in_place
from tests.dlbc.passes.planning import results_of

OUT_AT = {name: row.out_at for name, row in TABLE.items() if row.out_at is not None}

#: Arguments as a program writes them, of arrays `a` and `b`; some fit, most do not.
ARGUMENTS = (
    "a", "a, a", "a, b, b", "a, 0", "a, 1", "0, a", "a, 0, 0", "a, 1, 1", "(a,)", "(a, b)", "[a]", "[a], 0",
    "'ij->ji', a", "'ii->i', a", "'i', a", "'ij,ij->ij', a, a", "a, [0, 1]", "a, n=0", "a, n=1", "a, axis=0",
    "a, bins=b", "a, bins=3", "a, 3", "a, dtype=a.dtype", "a, decimals=0", "a, copy=False", "a, copy=True",
    "a, copy=None", "a, b, copy=False", "a, b, bins=[b, b]", "a, b, [b, b]", "a, keepdims=True", "a, axis=()",
    "a, repeats=1", "a, k=0", "lambda *k: a, (3,)", "a, a.shape",
)  # fmt: skip
SHAPES = ((4,), (3, 3), (), (1, 1), (0,))
TYPES = (np.float64, np.float32, np.int64, np.bool_, np.complex128)


def function_of(full: str) -> object:
    """What numpy has by that name; None where this version has it no more."""
    found: object = np
    for name in full.split(".")[1:]:
        found = getattr(found, name, None)
    return found


def arrays_in(result: object) -> Iterator[np.ndarray]:
    """The arrays that a result is or holds."""
    if isinstance(result, np.ndarray):
        yield result
    elif isinstance(result, list | tuple):
        for item in result:
            yield from arrays_in(item)


def shares(result: object, *given: np.ndarray) -> bool:
    """Whether it has memory of one of these arrays, or is one of them."""
    return any(
        found is one or (found.size and np.shares_memory(found, one))
        for found in arrays_in(result)
        for one in given
    )


def sharing(text: str) -> bool:
    """Whether a call of numpy, as written, gives back an argument for any shape and type."""
    code = compile(text, "", "eval")
    return any(_shares(code, np.ones(shape, kind)) for shape in SHAPES for kind in TYPES)


def _shares(code: object, a: np.ndarray) -> bool:
    b = np.sort(a.copy(), axis=None).reshape(a.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = eval(code, {"np": np, "a": a, "b": b})  # type: ignore[arg-type]
        except Exception:  # arguments that do not fit
            return False
    return shares(result, a, b)


def calls(full: str) -> Iterator[tuple[str, ast.Call]]:
    """Calls of the function that store into no argument."""
    for arguments in ARGUMENTS:
        text = f"{full.replace('numpy', 'np', 1)}({arguments})"
        call = ast.parse(text, mode="eval").body
        assert isinstance(call, ast.Call)
        if len(call.args) <= OUT_AT.get(full, len(call.args)):
            yield text, call


NUMPY = sorted(
    name for name in names_where(lambda row: row.computes) if name.startswith("numpy.") and function_of(name)
)
FILES = ("numpy.loadtxt", "numpy.genfromtxt")


@pytest.mark.parametrize("full", [name for name in NUMPY if name not in FILES])
def test_what_is_said_to_be_new_shares_nothing(full: str) -> None:
    wrong = [text for text, call in calls(full) if is_new(full, call) and sharing(text)]
    assert not wrong


#: Arguments of functions of scipy, by package: arrays `a` (5, 5), `u` (64,) and `k` (3, 3).
SCIENTIFIC = {
    "scipy.ndimage": {
        "a": "laplace sobel prewitt distance_transform_edt center_of_mass maximum_position minimum_position",
        "a, 0.0": "gaussian_filter gaussian_laplace",
        "a, 1": "gaussian_filter1d gaussian_gradient_magnitude uniform_filter uniform_filter1d median_filter "
        "maximum_filter minimum_filter grey_closing grey_dilation grey_erosion grey_opening",
        "a, 0": "rotate",
        "a, 0, size=1": "percentile_filter rank_filter",
        "a, 1, order=0": "shift zoom",
        "a, k": "convolve correlate",
        "a, u[:3]": "convolve1d correlate1d",
        "a > 1": "binary_closing binary_dilation binary_erosion binary_opening label",
        "a, np.eye(2)": "affine_transform",
        "a, np.indices((5, 5))": "map_coordinates",
        "(a > 1).astype(int)": "find_objects",
    },
    "scipy.signal": {
        "u": "argrelmax argrelmin detrend find_peaks hilbert periodogram",
        "u, u[:1]": "convolve correlate fftconvolve oaconvolve",
        "a, k[:1, :1]": "convolve2d correlate2d",
        "u, nperseg=16": "spectrogram stft welch",
        "u, u, nperseg=16": "coherence csd",
        "u[:2], u[1:2], u": "filtfilt lfilter",
        "np.sin(u), [3]": "peak_prominences peak_widths",
        "[[1.0, 0.0, 0.0, 1.0, 0.0, 0.0]], u": "sosfilt sosfiltfilt",
        "u, 1": "medfilt",
        "a, 1": "medfilt2d",
        "u, 1, 1": "resample_poly",
        "u, 2": "decimate",
        "u, 1, 0": "savgol_filter",
        "u, np.greater": "argrelextrema",
        "3, 0.5": "butter firwin",
        "2, 1.0, 0.5": "cheby1 cheby2",
    },
    "scipy.fft": {"u": "dct dst fft hfft idct idst ifft ihfft irfft rfft", "4": "fftfreq rfftfreq"},
    "scipy.linalg": {
        "k": "det eig eigvals expm inv lu norm pinv qr svd svdvals",
        "k + k.T": "cholesky eigh eigvalsh",
        "k, k": "lstsq solve",
    },
    "scipy.integrate": {"u": "cumulative_simpson cumulative_trapezoid simpson trapezoid"},
    "scipy.spatial.distance": {"k": "pdist", "k, k": "cdist", "u, u": "cosine euclidean"},
    "scipy.special": {
        "u": "digamma ellipe ellipk erf erfc erfinv expit factorial gamma gammaln i0 j0 j1 k0 loggamma logit "
        "logsumexp softmax y0 y1",
        "u, u": "beta betaln binom comb iv jv kv xlogy yv zeta",
    },
    "scipy.stats": {"u": "zscore"},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("full", [name for name in TABLE if name.startswith("scipy.")])
def test_results_of_scipy_share_nothing(full: str) -> None:
    module, _, name = full.rpartition(".")
    (arguments,) = (given for given, names in SCIENTIFIC[module].items() if name in names.split())
    scope = {
        "f": getattr(importlib.import_module(module), name),
        "a": np.linspace(0.1, 3.0, 25).reshape(5, 5), "u": np.linspace(0.1, 9.0, 64) % 1.7,
        "k": np.array([[2.0, 0.1, 0.0], [0.3, 1.0, 0.2], [0.0, 0.4, 3.0]]), "np": np,
    }  # fmt: skip
    before = {key: scope[key].copy() for key in "auk"}
    result = eval(f"f({arguments})", scope)
    assert not shares(result, *(scope[key] for key in "auk"))
    assert all(np.array_equal(scope[key], before[key]) for key in "auk")
    if isinstance(scope["f"], np.ufunc):
        assert lookup(full).out_at == scope["f"].nin
        return
    parameters = [*inspect.signature(scope["f"]).parameters]
    places = {parameters.index(each) for each in ("output", "distances") if each in parameters}
    if module == "scipy.ndimage":
        assert lookup(full).out_at == min(places, default=None)
    switches = [place for place, each in enumerate(parameters) if each.startswith("overwrite")]
    assert lookup(full).in_place_at == (switches or [None])[0]


@pytest.mark.parametrize(
    ("call", "codes"),
    [
        ("y = sn.convolve(a[i], k); y -= 1; b[i] = y[0]", []),
        ("sn.gaussian_filter(a[i], 1.0, output=b[i])", []),
        ("sn.gaussian_filter(a[i], 1.0, output=k)", ["DLB410"]),
        ("sn.gaussian_filter(a[i], 1.0, 0, k)", ["DLB410"]),
        ("y = sn.gaussian_filter(a[i], 1.0, output=k); b[i] = y", ["DLB410"]),
        ("y = sl.inv(k, overwrite_a=True); b[i] = y", ["DLB410"]),
    ],
)
def test_what_functions_of_scipy_store_into(call: str, codes: list[str]) -> None:
    before = "import numpy as np\nimport scipy.linalg as sl\nimport scipy.ndimage as sn\n"
    arrays = "a = np.ones((n, 9, 9))\nb = np.ones((n, 9, 9))\nk = np.ones((9, 9))\n"
    text = f"{before}{arrays}# dlb: parallel\nfor i in range(n):\n    {call}\n"
    [(_, findings)] = results_of(text)
    assert [f.code for f in findings if f.severity is Severity.ERROR] == codes


FRESH_METHODS = sorted(n[1:] for n, row in METHODS.items() if row.is_new and hasattr(np.ndarray, n[1:]))


@pytest.mark.parametrize("method", FRESH_METHODS)
def test_the_result_of_a_fresh_method_shares_nothing(method: str) -> None:
    for arguments in ("", "0", "1", "a", "[0]", "None, None"):
        text = f"a.{method}({arguments})"
        if arguments.count(",") + bool(arguments) <= OUT_AT.get(f".{method}", 9):
            assert not sharing(text), text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("numpy.float64(a)", True),
        ("numpy.round(a, 2)", True),
        ("numpy.diff(a)", False),
        ("numpy.diff(a, n=2)", False),
        ("numpy.diff(a, k)", True),
        ("numpy.array(a)", False),
        ("numpy.array(a, copy=True)", False),
        ("numpy.array(a, copy=c)", True),
        ("numpy.array([a], dtype=object)", True),
        ("numpy.einsum('ij->ji', a)", True),
        ("numpy.einsum('ij,j->i', a, b)", False),
        ("numpy.einsum(a, [0, 0], [0])", True),
        ("numpy.linalg.matrix_power(a, 3)", False),
        ("numpy.linalg.matrix_power(a, k)", True),
        ("numpy.histogram(a, 10)", False),
        ("numpy.histogram(a, edges)", True),
        ("numpy.meshgrid(a, b)", False),
        ("numpy.meshgrid(a, b, copy=False)", True),
        ("numpy.nan_to_num(a)", False),
        ("numpy.nan_to_num(a, False)", True),
        ("builtins.sum(a)", False),
        ("builtins.sum(a, 0)", False),
        ("builtins.sum(a, b)", True),
        ("numpy.diff(*a)", True),
    ],
)
def test_a_call_says_whether_anything_comes_back(text: str, kept: bool) -> None:
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    assert (given_back(ast.unparse(call.func), call) != NOTHING) is kept


def outputs(module: ModuleType, prefix: str) -> Iterator[tuple[str, int]]:
    """From where on functions of numpy take places for results, as numpy tells."""
    for name in dir(module):
        function = getattr(module, name)
        if isinstance(function, np.ufunc):
            yield prefix + name, function.nin
        elif callable(function) and not isinstance(function, type) and not name.startswith("_"):
            yield from ((prefix + name, place) for place in _place_of_out(function))


def _place_of_out(function: object) -> Iterator[int]:
    try:
        parameters = list(inspect.signature(function).parameters.values())  # type: ignore[arg-type]
    except ValueError:  # numpy does not tell
        return
    for place, parameter in enumerate(parameters):
        if parameter.name == "out" and parameter.kind is not parameter.KEYWORD_ONLY:
            yield place


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("module", "prefix"), [(np, "numpy."), (np.linalg, "numpy.linalg."), (np.fft, "numpy.fft.")]
)
def test_every_place_for_results_stands_in_the_table(module: ModuleType, prefix: str) -> None:
    assert {name: lookup(name).out_at for name, _ in outputs(module, prefix)} == dict(outputs(module, prefix))


#: Methods with all that stands before the place for the result.
STORING = {
    "all": "0, None", "any": "0, None", "argmax": "0", "argmin": "0", "clip": "2.0, 5.0",
    "compress": "[True, True], 0", "conj": "", "conjugate": "", "cumprod": "0, None",
    "cumsum": "0, None", "dot": "u", "max": "0", "mean": "0, None", "min": "0", "prod": "0, None", "ptp": "0",
    "round": "1", "std": "0, None",
    "sum": "0, None", "take": "[0, 1], 0", "trace": "0, 0, 1, None", "var": "0, None",
}  # fmt: skip

#: Methods of random generators that store.
DRAWS = ("random", "standard_normal", "standard_exponential", "standard_gamma")


@pytest.mark.parametrize("method", [name for name in STORING if hasattr(np.ndarray, name)])
def test_a_method_of_an_array_stores_where_the_table_says(method: str) -> None:
    before = ast.parse(f"f({STORING[method]})", mode="eval").body
    assert isinstance(before, ast.Call)
    assert len(before.args) >= OUT_AT[f".{method}"]
    known = {"u": np.array([[1.0, 7.0], [3.0, 4.0]])}
    expected = eval(f"u.{method}({STORING[method]})", known)
    known["w"] = np.full_like(expected, 9)
    eval(f"u.{method}({STORING[method]}{', ' if before.args else ''}w)", known)
    assert np.array_equal(known["w"], expected)


def test_every_method_of_the_table_is_tried() -> None:
    assert {f".{method}" for method in (*STORING, *DRAWS)} == {
        name for name in OUT_AT if name.startswith(".")
    }


def test_a_name_has_one_row() -> None:
    with pytest.raises(ValueError, match=r"two rows for numpy\.add"):
        table({"numpy.add": LibraryCall()}, family("numpy.", "add sin"))


@pytest.mark.parametrize("name", ["reduce", "accumulate", "reduceat"])
def test_a_method_of_a_universal_function_stores_where_the_table_says(name: str) -> None:
    given = [np.ones((2, 2)), *([[0]] if name == "reduceat" else []), 0, None]
    assert len(given) == lookup(f"numpy.add.{name}").out_at
    method = getattr(np.add, name)
    out = np.zeros_like(method(*given))
    assert method(*given, out) is out
    assert out.any()


@pytest.mark.parametrize("name", ["add", "left_shift", "negative"])
def test_at_stores_into_the_first_argument(name: str) -> None:
    array = np.array([1, 2])
    function = getattr(np, name)
    function.at(array, [0], *([3] if function.nin == 2 else []))
    assert array[0] != 1
    assert lookup(f"numpy.{name}.at").stores


@pytest.mark.parametrize("name", DRAWS)
def test_a_draw_stores_where_the_table_says(name: str) -> None:
    out = np.zeros(3)
    given = [*([1.0] if name == "standard_gamma" else []), 3, np.float64]
    given += ["zig"] if name == "standard_exponential" else []
    assert len(given) == lookup(f".{name}").out_at
    assert getattr(np.random.default_rng(1), name)(*given, out) is out
    assert out.all()


def test_operators_in_place_store() -> None:
    others = {"index", "indexOf", "inv", "invert", "is_", "is_none", "is_not", "is_not_none", "itemgetter"}
    names = {name for name in dir(operator) if name.startswith("i")} - others
    assert len(names) == 14
    assert [name for name in names if not lookup(f"operator.{name}").stores] == []


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("numpy.median(u)", False),
        ("numpy.median(u, None, None, True)", True),
        ("numpy.median(u, overwrite_input=True)", True),
        ("numpy.median(u, overwrite_input=False)", False),
        ("numpy.nan_to_num(u)", False),
        ("numpy.nan_to_num(u, True)", False),
        ("numpy.nan_to_num(u, False)", True),
        ("numpy.nan_to_num(u, copy=switch)", True),
        ("scipy.linalg.inv(u, overwrite_a=True)", True),
        ("numpy.array(u, copy=False)", False),
    ],
)
def test_a_switch_tells_that_a_function_works_in_place(text: str, over: bool) -> None:
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    assert works_in_place(ast.unparse(call.func), call) is over


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_every_function_of_the_table_is_there() -> None:
    missing = [name for name in TABLE if not name.startswith(".") and not is_there(name)]
    assert [name for name in missing if not name.startswith("numpy.")] == []  # versions of numpy differ
    assert len(missing) < 10


def is_there(name: str) -> bool:
    module, *parts = name.split(".")
    with suppress(AttributeError):
        return callable(operator.attrgetter(".".join(parts))(importlib.import_module(module)))
    return False
