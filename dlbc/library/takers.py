"""Functions and decorators that take a function away from Python: they compile it, or run it elsewhere.

A loop in such a function is theirs. What dlbc would write in its place is no code that they can compile, or
is code that runs in a process of theirs, which is no rank.
"""

from __future__ import annotations

from enum import Enum
from typing import Final


class Takes(Enum):
    """What is done with a function, whose name goes into the braces."""

    COMPILES = "compiles `{}`"
    RUNS_ELSEWHERE = "runs `{}` in workers of its own"


#: By package, the last components of the names; packages move such names between their modules.
_COMPILERS: Final = {
    "numba": "jit njit generated_jit vectorize guvectorize stencil cfunc jitclass overload overload_method "
    "overload_attribute register_jitable intrinsic",
    "numba_dpex": "kernel dpjit",
    "torch": "script script_method trace compile",
    "jax": "jit pmap vmap grad value_and_grad",
    "tensorflow": "function",
    "taichi": "kernel func real_func pyfunc",
    "cython": "cfunc ccall cclass compile",
    "transonic": "jit boost",
    "pyccel": "epyccel lambdify",
    "cupy": "fuse",
    "cupyx": "rawkernel",
    "triton": "jit",
    "warp": "kernel func",
    "dace": "program method",
    "gt4py": "stencil function",
    "bodo": "jit",
    "codon": "jit",
    "mlx": "compile",
}
_RUNNERS: Final = {"ray": "remote", "dask": "delayed", "parsl": "python_app", "pycompss": "task"}

_TAKERS: Final = {
    package: dict.fromkeys(names.split(), takes)
    for takes, table in ((Takes.COMPILES, _COMPILERS), (Takes.RUNS_ELSEWHERE, _RUNNERS))
    for package, names in table.items()
}


def takes(full_name: str) -> Takes | None:
    """What the decorator or function of this full name does with a function; None if it takes none."""
    package, _, rest = full_name.partition(".")
    return _TAKERS.get(package, {}).get(rest.rpartition(".")[2])


def takers_of(package: str) -> tuple[str, ...]:
    """The names of a package's takers, as a star import binds them."""
    return tuple(_TAKERS.get(package.partition(".")[0], ()))
