"""Tables of what well-known functions and methods do: results that are new, arguments that change.

A function of these packages that stands in no table is taken to give back one of its arguments, and to
change none: the tables of changes are complete for builtins, ``math`` and numpy's public functions.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "CONTAINER_METHODS",
    "DRAWS",
    "EFFECTIVE_BUILTINS",
    "FILE_METHODS",
    "FILE_SAVERS",
    "FILE_WRITERS",
    "FORM_CALLS",
    "FRESH_CALLS",
    "FRESH_METHODS",
    "GENERATORS",
    "GIVING_BACK",
    "HIGHER",
    "HOLDERS",
    "IN_PLACE_AT",
    "ITERATOR_MAKERS",
    "ITERATOR_METHODS",
    "METADATA",
    "MUTATORS",
    "NUMPY_IN_PLACE",
    "ORDERED",
    "OUT_AT",
    "PRINTERS",
    "PURE_METHODS",
    "PURE_PACKAGES",
    "RANDOM_PACKAGES",
    "SAME_METHODS",
    "VIEWS",
]  # fmt: skip


def _words(text: str, prefix: str = "") -> frozenset[str]:
    return frozenset(prefix + word for word in text.split())


#: Functions that call the function given as their first argument, or as ``key``.
HIGHER: Final = _words("map filter sorted min max", "builtins.") | _words(
    "functools.reduce functools.partial itertools.starmap itertools.takewhile itertools.dropwhile "
    "itertools.accumulate itertools.groupby itertools.filterfalse numpy.vectorize numpy.apply_along_axis "
    "numpy.fromfunction numpy.frompyfunc numpy.piecewise heapq.nlargest heapq.nsmallest"
)

#: Builtins and library functions that give iterators (all of itertools beside them).
ITERATOR_MAKERS: Final = _words(
    "iter map filter zip enumerate reversed open csv.reader csv.DictReader os.scandir re.finditer io.open "
    "gzip.open glob.iglob os.walk"
)

#: Methods that give iterators.
ITERATOR_METHODS: Final = _words("iterdir glob rglob finditer iterrows itertuples iter_lines __iter__")

#: Attributes that tell of an array's form, not of its data.
METADATA: Final = _words("shape ndim size dtype nbytes itemsize strides")

#: Attributes that are other views of the whole array.
VIEWS: Final = _words("T mT flat real imag data base loc iloc at iat values")

#: Builtins with effects: they are taken for themselves even where another scope binds their name.
EFFECTIVE_BUILTINS: Final = _words("print input open setattr delattr next")

#: Functions that ask for the form of their argument alone.
FORM_CALLS: Final = _words(
    "builtins.len builtins.isinstance builtins.type builtins.id numpy.shape numpy.ndim numpy.size"
)

#: Functions whose result shares nothing with their arguments, whatever these are, arrays of objects apart.
FRESH_CALLS: Final = (
    _words("abs ascii bin bool bytearray bytes chr complex divmod float format hash hex id input int "
           "isinstance issubclass hasattr callable len oct ord pow range repr round str any all", "builtins.")
    | _words("fsum sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh "
    "tanh asinh "
             "acosh atanh hypot dist floor ceil trunc fabs fmod modf frexp ldexp gcd lcm isqrt comb perm "
             "factorial pow erf erfc gamma lgamma degrees radians copysign isnan isinf isfinite isclose "
             "remainder cbrt prod nextafter ulp", "math.")
    | _words("zeros ones empty full zeros_like ones_like empty_like full_like copy arange linspace "
             "logspace geomspace eye identity tri tril triu vander loadtxt genfromtxt indices "
             "dot vdot inner outer matmul tensordot kron cross sum prod mean std var median average "
             "percentile quantile nansum nanmean nanstd nanvar nanmin nanmax cumsum cumprod "
             "gradient trapezoid "
             "sqrt cbrt square exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan arctan2 "
             "sinh cosh tanh arcsinh arccosh arctanh hypot deg2rad rad2deg degrees radians floor ceil "
             "trunc rint "
             "fix abs absolute fabs sign heaviside maximum minimum fmax fmin add subtract "
             "multiply "
             "divide true_divide floor_divide power float_power mod remainder fmod negative positive "
             "reciprocal "
             "conj conjugate angle min max amin amax argmin argmax argsort sort lexsort searchsorted "
             "count_nonzero nonzero flatnonzero argwhere where clip isnan isinf isfinite isclose allclose "
             "array_equal any all logical_and logical_or logical_not logical_xor bitwise_and bitwise_or "
             "bitwise_xor invert left_shift right_shift equal not_equal less less_equal greater "
             "greater_equal "
             "concatenate stack vstack hstack dstack column_stack tile repeat append insert delete pad "
             "roll unique "
             "bincount digitize interp convolve correlate polyfit polyval roots "
             "in1d isin union1d intersect1d setdiff1d cov corrcoef trace select piecewise choose take "
             "ndim shape size sinc i0 unwrap ptp outer linalg.norm linalg.solve linalg.inv "
             "linalg.det "
             "linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.svd linalg.qr linalg.cholesky "
             "linalg.lstsq linalg.pinv linalg.matrix_rank fft.fft fft.ifft fft.rfft "
             "fft.irfft "
             "fft.fftfreq random.default_rng random.SeedSequence random.Generator "
             "random.PCG64 random.RandomState", "numpy.")
    | _words("perf_counter time monotonic process_time sleep", "time.")
    | _words("copy.deepcopy io.StringIO io.BytesIO array.array collections.Counter random.Random "
    "fractions.Fraction decimal.Decimal")
)  # fmt: skip

#: Functions whose result may be an argument, a view of one or hold one; when, `ir.given_back` says of a call.
GIVING_BACK: Final = _words("sum", "builtins.") | _words(
    "array around round diff einsum fromfunction histogram histogram2d linalg.matrix_power meshgrid "
    "nan_to_num fft.fft2 fft.ifft2 "
    "float64 float32 float16 int64 int32 int16 int8 uint64 uint32 uint16 uint8 intp bool_ "
    "complex128 complex64",
    "numpy.",
)

#: New containers that hold what their arguments hold.
HOLDERS: Final = _words(
    "list tuple set frozenset dict sorted enumerate zip reversed map filter iter slice", "builtins."
) | _words("collections.deque collections.defaultdict collections.OrderedDict copy.copy itertools.product "
           "itertools.chain itertools.combinations itertools.permutations")  # fmt: skip

#: Methods whose result is new whatever they are called on; a list's `copy` holds what the list holds.
FRESH_METHODS: Final = _words(
    "copy sum mean std var min max prod cumsum cumprod dot argmin argmax argsort any all tolist item "
    "nonzero "
    "tobytes trace clip repeat searchsorted flatten lower upper strip lstrip rstrip split "
    "rsplit "
    "splitlines join replace format startswith endswith find rfind index count encode decode title "
    "capitalize "
    "isdigit isalpha isspace zfill ljust rjust center bit_length is_integer spawn generate_state "
    "total_seconds"
)

#: Methods of numbers and arrays that give back what they are called on where there is nothing to do.
SAME_METHODS: Final = _words("round conj conjugate")

#: Methods that read what they are called on and may give part of it back.
PURE_METHODS: Final = _words(
    "get items keys values reshape ravel transpose view astype squeeze swapaxes diagonal take compress union "
    "intersection difference issubset issuperset isdisjoint most_common as_integer_ratio "
    "exists is_file is_dir read_text read_bytes read readline match search group groups findall"
)

#: Methods of containers that give back an element, or an argument.
CONTAINER_METHODS: Final = _words("get setdefault pop popleft popitem items keys values")

#: Methods that keep an order of arrival: appending to a container.
ORDERED: Final = _words("append extend add appendleft extendleft")

#: Other methods that change what they are called on.
MUTATORS: Final = _words(
    "update pop remove insert sort reverse clear setdefault popitem discard fill put resize itemset "
    "partition "
    "setflags setfield byteswap popleft rotate symmetric_difference_update intersection_update "
    "difference_update "
    "frombytes fromlist move_to_end subtract __setitem__ __delitem__ __setattr__ __iadd__ put_nowait send "
    "throw close seek __next__"
)

#: Draws of generators.
DRAWS: Final = _words(
    "random normal integers choice uniform standard_normal shuffle permutation permuted randint rand randn "
    "randrange gauss sample choices exponential poisson binomial gamma beta lognormal multivariate_normal "
    "standard_exponential standard_cauchy geometric triangular vonmises laplace getrandbits betavariate "
    "normalvariate expovariate gammavariate random_sample ranf bytes dirichlet multinomial chisquare weibull "
    "rayleigh logistic gumbel pareto power wald zipf hypergeometric negative_binomial standard_t seed"
)

#: Methods that write to a file.
FILE_METHODS: Final = _words(
    "write writelines flush truncate write_text write_bytes writerow writerows savefig"
)

#: Functions and methods whose names say that they write to files, whatever they belong to.
FILE_SAVERS: Final = _words(
    "savefig imsave imwrite savemat tofile to_parquet to_pickle to_excel to_hdf to_feather "
    "write_text write_bytes"
)

#: Functions that write to files, or change the world outside.
FILE_WRITERS: Final = (
    _words("numpy.save numpy.savetxt numpy.savez numpy.savez_compressed json.dump pickle.dump os.remove "
           "os.unlink os.mkdir os.makedirs os.rename os.replace os.rmdir os.system os.write os.chdir "
           "os.putenv "
           "logging.shutdown shutil.copy shutil.copyfile shutil.move shutil.rmtree "
           "subprocess.run subprocess.call "
           "subprocess.check_call subprocess.check_output subprocess.Popen")
)  # fmt: skip

#: Functions that print, to standard output where nothing else is said.
PRINTERS: Final = _words("builtins.print sys.stdout.write sys.stdout.writelines pprint.pprint pprint.pp")

#: numpy functions that store into their first argument.
NUMPY_IN_PLACE: Final = _words(
    "put copyto place putmask fill_diagonal put_along_axis add.at subtract.at multiply.at divide.at "
    "maximum.at minimum.at power.at logical_or.at logical_and.at bitwise_or.at bitwise_and.at bitwise_xor.at",
    "numpy.",
) | _words("heapq.heappush heapq.heappop heapq.heapify heapq.heapreplace heapq.heappushpop bisect.insort "
           "bisect.insort_left bisect.insort_right operator.setitem operator.delitem operator.iadd "
           "builtins.setattr builtins.delattr builtins.next")  # fmt: skip

#: Where numpy's functions, and methods of arrays, take without a keyword the array that they store into.
OUT_AT: Final = (
    dict.fromkeys(
        _words("sqrt cbrt square exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh "
               "cosh tanh arcsinh arccosh arctanh asin acos atan asinh acosh atanh deg2rad rad2deg degrees "
               "radians floor ceil trunc rint fix abs absolute fabs sign negative positive reciprocal conj "
               "conjugate isnan isinf isfinite isnat isneginf isposinf logical_not invert bitwise_not "
               "bitwise_invert bitwise_count signbit spacing modf frexp", "numpy.")
        | _words("round dot min max argmin argmax any all ptp", "."), 1)
    | dict.fromkeys(
        _words("add subtract multiply divide true_divide floor_divide power pow float_power mod remainder "
               "fmod divmod maximum minimum fmax fmin arctan2 atan2 hypot heaviside copysign nextafter ldexp "
               "logaddexp logaddexp2 gcd lcm logical_and logical_or logical_xor bitwise_and bitwise_or "
               "bitwise_xor left_shift right_shift bitwise_left_shift bitwise_right_shift equal not_equal "
               "less less_equal greater greater_equal matmul vecdot matvec vecmat dot outer max min amax "
               "amin "
               "ptp argmax argmin nanmax nanmin nanargmax nanargmin any all round around round_ median "
               "nanmedian concatenate concat stack choose", "numpy.")
        | _words("sum prod mean std var cumsum cumprod clip take compress", "."), 2)
    | dict.fromkeys(
        _words("sum prod mean std var cumsum cumprod nansum nanprod nanmean nanstd nanvar nancumsum "
               "nancumprod clip take compress percentile quantile nanpercentile nanquantile", "numpy."), 3)
    | dict.fromkeys(
        _words("fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 fftn ifftn rfftn irfftn", "numpy.fft.")
        | _words("numpy.is_busday .trace"), 4)
    | {".conj": 0, ".conjugate": 0, "numpy.trace": 5, "numpy.busday_count": 5, "numpy.busday_offset": 6}
)  # fmt: skip

#: Where functions take without a keyword the switch by which they work in their first argument.
IN_PLACE_AT: Final = {
    "numpy.nan_to_num": 1, "numpy.median": 3, "numpy.nanmedian": 3, "numpy.percentile": 4,
    "numpy.quantile": 4, "numpy.nanpercentile": 4, "numpy.nanquantile": 4,
}  # fmt: skip

#: Modules whose functions draw from one generator that all iterations share.
RANDOM_PACKAGES: Final = ("random.", "numpy.random.", "secrets.")

#: Constructors in them that draw nothing.
GENERATORS: Final = _words(
    "numpy.random.default_rng numpy.random.SeedSequence numpy.random.Generator numpy.random.PCG64 "
    "numpy.random.RandomState numpy.random.Philox numpy.random.MT19937 numpy.random.SFC64 random.Random"
)

#: Packages whose functions are known not to change shared data but where the tables say so.
PURE_PACKAGES: Final = ("builtins.", "math.", "cmath.", "numpy.", "scipy.", "time.", "copy.", "itertools.",
                        "functools.", "operator.", "collections.", "fractions.", "decimal.", "statistics.",
                        "bisect.", "heapq.", "re.", "string.", "zlib.", "hashlib.", "struct.", "array.",
                        "datetime.", "tqdm.", "sys.", "os.", "json.", "pickle.")  # fmt: skip
