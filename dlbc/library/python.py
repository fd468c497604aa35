"""Rows for builtins and Python's library, and what whole packages promise."""

from __future__ import annotations

from enum import IntEnum
from functools import partial
from typing import Final

from dlbc.library.result_aliases import of_sum
from dlbc.library.row import CostKind, EffectKind, Reads, ResultKind, family, table

_builtin = partial(family, "builtins.")
_HOLDER, _NEW, _PLAIN = ResultKind.HOLDER, ResultKind.NEW, ResultKind.PLAIN
_FORM, _ITEMS, _NOTHING = Reads.FORM, Reads.ITEMS, Reads.NOTHING
_WHOLE = {"exhausts": True, "cost": CostKind.ITEMS}

_BUILTINS = table(
    _builtin("ascii bin chr format hex oct ord repr str", result=_PLAIN),
    _builtin("bool complex float int", result=_PLAIN, elementwise=True),
    _builtin("hasattr hash range", result=_PLAIN, reads=_NOTHING),
    _builtin("callable isinstance issubclass", result=_PLAIN, reads=_FORM),
    _builtin("len", result=_PLAIN, reads=_FORM, elementwise=True),
    _builtin("id", result=_PLAIN, reads=_FORM, fickle=True),
    _builtin("type", reads=_FORM),
    _builtin("classmethod memoryview object property staticmethod super", reads=_NOTHING),
    _builtin("abs pow", result=ResultKind.COMPUTED, elementwise=True),
    _builtin("divmod round", result=ResultKind.COMPUTED),
    _builtin("bytearray bytes", result=_NEW, reads=_ITEMS),
    _builtin("all any", result=_NEW, reads=_ITEMS, **_WHOLE),
    _builtin("sum", rule=of_sum, **_WHOLE),
    _builtin("max min", calls=(), elementwise=True, **_WHOLE),
    _builtin("sorted", result=_HOLDER, calls=(), same_items=True, as_long=True, **_WHOLE),
    _builtin("list", result=_HOLDER, reads=_ITEMS, same_items=True, as_long=True, container=True, **_WHOLE),
    _builtin("tuple", result=_HOLDER, reads=_ITEMS, same_items=True, as_long=True, **_WHOLE),
    _builtin("set", result=_HOLDER, reads=_ITEMS, same_items=True, container=True, **_WHOLE),
    _builtin("frozenset", result=_HOLDER, reads=_ITEMS, same_items=True, exhausts=True),
    _builtin("dict", result=_HOLDER, reads=_ITEMS, container=True, exhausts=True),
    _builtin("slice", result=_HOLDER, reads=_NOTHING),
    _builtin("enumerate", result=_HOLDER, iterator=True, as_long=True),
    _builtin("filter", result=_HOLDER, iterator=True, calls=(0,)),
    _builtin("iter", result=_HOLDER, iterator=True, same_items=True),
    _builtin("map", result=_HOLDER, iterator=True, calls=(0,), applies=True),
    _builtin("reversed", result=_HOLDER, reads=_ITEMS, iterator=True, same_items=True, as_long=True),
    _builtin("zip", result=_HOLDER, iterator=True),
    _builtin("input", result=_PLAIN, reads=_NOTHING, effect=EffectKind.INPUT),
    _builtin("open", result=_PLAIN, reads=_NOTHING, effect=EffectKind.FILE, iterator=True),
    _builtin("print", result=_PLAIN, prints=True),
    _builtin("next setattr", stores_at=0),
    _builtin("delattr", reads=_NOTHING, stores_at=0),
    _builtin("getattr", result=ResultKind.HANDLE),
    _builtin(
        "__import__ breakpoint compile dir eval exec globals locals vars", reads=_NOTHING, reflective=True
    ),
)

PYTHON: Final = table(
    _BUILTINS,
    family(
        "math.",
        "acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist erf erfc exp "
        "exp2 expm1 fabs factorial floor fmod frexp gamma gcd hypot isclose isfinite isinf isnan isqrt lcm "
        "ldexp lgamma log log10 log1p log2 modf nextafter perm pow radians remainder sin sinh sqrt tan tanh "
        "trunc ulp",
        result=_NEW,
    ),
    family("math.", "fsum prod", result=_NEW, exhausts=True),
    family("statistics.", "fmean mean", exhausts=True),
    family("time.", "monotonic perf_counter process_time sleep time", result=_NEW, fickle=True),
    family("io.", "BytesIO StringIO", result=_NEW, fickle=True),
    family("", "array.array copy.deepcopy decimal.Decimal fractions.Fraction", result=_NEW),
    family("", "copy.copy", result=_HOLDER),
    family("random.", "Random", result=_NEW, generator=True),
    family("random.", "shuffle", effect=EffectKind.RANDOM, stores_at=0),
    family("collections.", "Counter", result=_NEW, container=True),
    family("collections.", "OrderedDict defaultdict deque", result=_HOLDER, container=True),
    family("itertools.", "chain combinations permutations product", result=_HOLDER, iterator=True),
    family("itertools.", "dropwhile filterfalse takewhile", iterator=True, calls=(0,)),
    family("itertools.", "groupby", iterator=True, calls=(1,)),
    family("itertools.", "accumulate", iterator=True, calls=(1,), applies=True),
    family("itertools.", "starmap", iterator=True, calls=(0,), applies=True),
    family("functools.", "partial", calls=(0,)),
    family("functools.", "reduce", calls=(0,), applies=True),
    family("heapq.", "nlargest nsmallest", calls=(2,)),
    family("heapq.", "heapify heappop heappush heappushpop heapreplace", stores_at=0),
    family("bisect.", "insort insort_left insort_right", stores_at=0),
    family("struct.", "pack_into", stores_at=1),
    family("os.", "preadv readv", stores_at=1),
    family(
        "operator.",
        "setitem delitem iadd isub imul imatmul itruediv ifloordiv imod ipow iand ior ixor ilshift irshift "
        "iconcat",
        stores_at=0,
    ),
    family(
        "",
        "csv.reader csv.DictReader glob.iglob gzip.open io.open os.scandir os.walk re.finditer",
        iterator=True,
    ),
    family("", "sys.stdout.write sys.stdout.writelines pprint.pprint pprint.pp", prints=True),
    family("", "json.dump pickle.dump logging.shutdown", effect=EffectKind.FILE),
    family(
        "os.",
        "chdir makedirs mkdir posix_spawn posix_spawnp putenv pwrite pwritev remove rename replace rmdir "
        "sendfile system unlink write writev",
        effect=EffectKind.FILE,
    ),
    family("shutil.", "copy copyfile move rmtree", effect=EffectKind.FILE),
    family("", "atexit.register atexit.unregister weakref.finalize", effect=EffectKind.OBJECT),
    family("subprocess.", "Popen call check_call check_output run", effect=EffectKind.FILE),
)


class Trust(IntEnum):
    """What is known of all functions of a package that have no row. Each includes those before it."""

    CONFINED = 1  # they reach no more than their arguments
    READS = 2  # they look at their arguments, and no more
    PURE = 3  # they change nothing that iterations share


def _trusted(trust: Trust, names: str) -> dict[str, Trust]:
    return dict.fromkeys(names.split(), trust)


#: Packages by name. Others of the standard library might be the program's own by the same name, or look at
#: the program itself.
PACKAGES: Final = {
    **_trusted(
        Trust.PURE,
        "builtins math cmath numpy scipy time copy itertools functools operator collections fractions "
        "decimal statistics bisect heapq re string zlib hashlib struct array datetime tqdm sys os json "
        "pickle",
    ),
    **_trusted(
        Trust.READS, "matplotlib logging warnings pprint csv imageio PIL textwrap traceback pathlib random io"
    ),
    **_trusted(
        Trust.CONFINED,
        "contextlib typing dataclasses enum abc tempfile shutil glob subprocess argparse numbers platform "
        "socket gzip zipfile uuid sqlite3 mpl_toolkits pandas h5py numba sympy sklearn cv2 seaborn netCDF4 "
        "xarray yaml requests networkx skimage plotly bokeh pyarrow polars joblib psutil rich click pytest",
    ),
}

#: Packages whose functions give numbers, text or other plain values.
PLAIN_PACKAGES: Final = frozenset({"math", "cmath", "time", "os", "sys", "datetime", "statistics"})

#: Modules whose functions draw from one generator that all iterations share, makers of generators apart.
RANDOM_PACKAGES: Final = ("random.", "numpy.random.", "secrets.")

#: What looks at the program itself, or makes another one of it.
REFLECTIVE: Final = ("sys.modules", "sys._", "sys.last_", "sys.exc_info", "os.fork")
