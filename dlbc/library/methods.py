"""Rows for methods, by name alone, and attributes of arrays."""

from __future__ import annotations

from functools import partial
from typing import Final

from dlbc.library.row import CostKind, EffectKind, Reads, ResultKind, family, table

#: Attributes that describe an array's form, not its data.
METADATA: Final = frozenset({"shape", "ndim", "size", "dtype", "nbytes", "itemsize", "strides"})

#: Attributes that are other views of the whole array.
VIEWS: Final = frozenset(
    ["T", "mT", "flat", "real", "imag", "data", "base", "loc", "iloc", "at", "iat", "values"]
)

_method = partial(family, ".")
_NEW, _SAME = ResultKind.NEW, ResultKind.SAME
_LIKE, _REDUCTION = CostKind.LIKE, CostKind.REDUCTION
_DRAW, _FILE, _MUTATE, _ORDERED = EffectKind.DRAW, EffectKind.FILE, EffectKind.MUTATE, EffectKind.ORDERED

_READING = table(
    _method(
        "as_integer_ratio bit_count bit_length capitalize casefold center count decode encode endswith "
        "expandtabs find format format_map from_bytes fromhex hex index is_integer isalnum isalpha isascii "
        "isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust "
        "lower lstrip maketrans removeprefix removesuffix replace rfind rindex rjust rpartition rsplit "
        "rstrip split splitlines startswith strip swapcase title to_bytes total_seconds upper zfill",
        result=_NEW,
    ),
    _method("argpartition choose dumps flatten item nonzero repeat searchsorted tobytes", result=_NEW),
    _method("ptp", result=_NEW, out_at=1),
    _method("all any argmax argmin dot max min", result=_NEW, out_at=1, cost=_REDUCTION),
    _method("mean prod std sum var", result=_NEW, out_at=2, cost=_REDUCTION),
    _method("trace", result=_NEW, out_at=4, cost=_REDUCTION),
    _method("argsort tolist", result=_NEW, cost=_LIKE),
    _method("clip cumprod cumsum", result=_NEW, out_at=2, cost=_LIKE),
    _method("generate_state spawn", result=_NEW, fickle=True),
    _method("copy", result=ResultKind.HOLDER, moves_only=True, cost=_LIKE),
    _method("conj conjugate", result=_SAME, out_at=0, cost=_LIKE),
    _method("round", result=_SAME, out_at=1, cost=_LIKE),
    _method("diagonal ravel reshape squeeze swapaxes transpose view", result=ResultKind.VIEW),
    _method("astype", cost=_LIKE),
    _method("compress take", out_at=2),
    _method(
        "difference exists findall group groups intersection is_dir is_file isdisjoint issubset issuperset "
        "match most_common read read_bytes read_text readline search union"
    ),
    _method("get items keys values", element=True, moves_only=True),
    _method("__iter__ finditer glob iter_lines iterdir iterrows itertuples rglob", iterator=True),
)

METHODS: Final = table(
    _READING,
    # Containers and arrays that change
    _method("append appendleft extend", effect=_ORDERED, moves_only=True, fills=True, distinct=True),
    _method("add extendleft", effect=_ORDERED, moves_only=True, fills=True),
    _method("pop popitem popleft", effect=_MUTATE, element=True, moves_only=True, distinct=True),
    _method("setdefault", effect=_MUTATE, element=True, moves_only=True, fills=True, distinct=True),
    _method("insert update", effect=_MUTATE, moves_only=True, fills=True),
    _method("clear", effect=_MUTATE, moves_only=True, distinct=True),
    _method("reverse rotate", effect=_MUTATE, moves_only=True),
    _method("sort", effect=_MUTATE, cost=_LIKE),
    _method("fill", effect=_MUTATE, reads=Reads.NOTHING, cost=_LIKE),
    _method("itemset put setfield", effect=_MUTATE, reads=Reads.NOTHING),
    _method(
        "__delitem__ __iadd__ __next__ __setattr__ __setitem__ byteswap close difference_update discard "
        "frombytes fromlist intersection_update move_to_end partition put_nowait remove resize seek "
        "setflags subtract symmetric_difference_update",
        effect=_MUTATE,
    ),
    _method("pack_into readinto readinto1 recv_into recvfrom_into", stores_at=0),
    _method("send throw", effect=_MUTATE, sends=True),
    # Random generators
    _method(
        "beta betavariate binomial bytes chisquare dirichlet exponential expovariate gamma gammavariate "
        "geometric getrandbits gumbel hypergeometric laplace logistic lognormal multinomial "
        "multivariate_normal negative_binomial normalvariate pareto poisson power random_sample ranf "
        "rayleigh seed standard_cauchy standard_t triangular vonmises wald weibull zipf",
        effect=_DRAW,
    ),
    _method("gauss integers normal rand randint randn randrange uniform", effect=_DRAW, distinct=True),
    _method("random standard_normal", effect=_DRAW, out_at=2, distinct=True),
    _method("standard_exponential standard_gamma", effect=_DRAW, out_at=3),
    _method("choices sample", effect=_DRAW, picks=True),
    _method("choice", effect=_DRAW, picks=True, distinct=True),
    _method("permutation permuted", effect=_DRAW, picks=True),
    _method("shuffle", effect=_DRAW, picks=True, shuffles=True, distinct=True),
    # Files
    _method("flush truncate write writelines writerow writerows", effect=_FILE),
    _method("dump", result=_NEW, effect=_FILE),
    _method("tofile", result=_NEW, effect=_FILE, distinct=True),
    _method(
        "imsave imwrite savefig savemat to_excel to_feather to_hdf to_parquet to_pickle write_bytes "
        "write_text",
        effect=_FILE,
        distinct=True,
    ),
)
