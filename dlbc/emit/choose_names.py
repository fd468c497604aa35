"""The names that a generated program adds, chosen so that none of them is the user's own."""

from __future__ import annotations

import ast
import itertools
import sys
import unicodedata
from collections.abc import Iterable, Iterator

from dlbrt.contract import AHEAD_PREFIX, CHUNK_PREFIX, DISTRIBUTIONS, FITS_PREFIX, KERNEL_PREFIX
from dlbrt.records import dataclass

from dlbc.analysis.uses import every_node

#: Names that generated programs import from the runtime.
EXPORTED = (*DISTRIBUTIONS, "REDUCE", "ELEMENTS", "SELECT", "LAST")
_OWN = ("dlb", "MPI", "dlbrt", "np", "_dlb_result", "routine", *EXPORTED)
#: Nodes that contain names of variables.
_NAMING = (ast.Name, ast.arg, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.alias, ast.ImportFrom,
           ast.Global, ast.Nonlocal, ast.ExceptHandler, ast.MatchAs, ast.MatchStar,
           ast.MatchMapping)  # fmt: skip
_STAR_IS_SAFE = sys.stdlib_module_names | {"numpy", "scipy", "matplotlib", "pylab"}


@dataclass(frozen=True, slots=True)
class GeneratedNames:
    """The chosen names.

    ``kernels``, ``chunks`` (their compiled iterations) and ``conditions`` (of these) are in the order of the
    loops, ``exported`` are pairs of the runtime's name and ours.
    ``numpy`` is the name of numpy in emitted expressions; ``imports_numpy``: the program does not bind it
    itself. ``routines`` are names of routines by their depth of nesting, ``ahead`` the functions that go
    through passes of those that can be foreseen, which are called ``passes`` there.
    """

    dlb: str
    mpi: str
    runtime: str
    result: str
    exported: tuple[tuple[str, str], ...]
    kernels: tuple[str, ...]
    chunks: tuple[str, ...]
    conditions: tuple[str, ...]
    numpy: str
    imports_numpy: bool
    routines: tuple[str, ...] = ()
    ahead: tuple[str, ...] = ()
    passes: str = "passes"

    def of(self, name: str) -> str:
        """The name that one of `EXPORTED` has in the program."""
        return dict(self.exported)[name]


def as_read(name: str) -> str:
    """A name as Python reads it, and so as it stands in its tree; the lossless tree has it as written."""
    return name if name.isascii() else unicodedata.normalize("NFKC", name)


def choose_names(
    tree: ast.Module,
    loops: int,
    first: int = 0,
    depth: int = 0,
    foreseen: int = 0,
    *,
    imported: bool = False,
) -> GeneratedNames:
    """Names that the module does not use for a variable, function, class or import.

    ``first`` is the line of the first loop, which may use what the program binds above it. ``depth`` is that
    to which routines are nested, ``foreseen`` the number of those whose passes are. Of a module that is
    ``imported`` they begin with an underscore, so that ``from module import *`` does not bring them along.
    """
    before = "_" if imported else ""
    naming = [node for node in every_node(tree) if isinstance(node, _NAMING)]
    taken = {name for node in naming for name in _names_of(node)}
    hidden = any(map(_hides_names, naming))
    if hidden:
        taken.update(_OWN)
    own = not hidden and _imports_numpy(tree, first, naming)
    return GeneratedNames(
        dlb=_fresh(f"{before}dlb", taken),
        mpi=_fresh(f"{before}MPI", taken),
        runtime=_fresh(f"{before}dlbrt", taken),
        result=_fresh("_dlb_result", taken),
        exported=tuple((name, _fresh(before + name, taken)) for name in EXPORTED),
        kernels=tuple(_fresh(f"{KERNEL_PREFIX}{number}", taken) for number in range(1, loops + 1)),
        chunks=tuple(_fresh(f"{CHUNK_PREFIX}{number}", taken) for number in range(1, loops + 1)),
        conditions=tuple(_fresh(f"{FITS_PREFIX}{number}", taken) for number in range(1, loops + 1)),
        numpy="np" if own else _fresh(f"{before}np", taken),
        imports_numpy=not own,
        routines=tuple(itertools.islice(_all_fresh("routine", taken), depth)),
        ahead=tuple(_fresh(f"{AHEAD_PREFIX}{number}", taken) for number in range(1, foreseen + 1)),
        passes=_fresh("passes", taken),
    )


def _imports_numpy(tree: ast.Module, before: int, naming: Iterable[ast.AST]) -> bool:
    """Whether the module binds ``np`` once, by ``import numpy as np`` at its top, above that line."""
    imports = (s for s in tree.body if isinstance(s, ast.Import) and s.lineno < before)
    imported = sum((a.name, a.asname) == ("numpy", "np") for s in imports for a in s.names)
    bound = (n for n in naming if not (isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)))
    return imported == 1 and sum(name == "np" for node in bound for name in _names_of(node)) == 1


def _fresh(name: str, taken: set[str]) -> str:
    return next(_all_fresh(name, taken))


def _all_fresh(name: str, taken: set[str]) -> Iterator[str]:
    candidates = itertools.chain([name], (f"{name}_{k}" for k in itertools.count(2)))
    return (c for c in candidates if c not in taken)


def _names_of(node: ast.AST) -> Iterator[str]:
    """The names that a node by itself reads or binds."""
    match node:
        case ast.Name(id=name) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.alias(name=name, asname=alias):
            yield alias or name.partition(".")[0]
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            yield from names
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name


def _hides_names(node: ast.AST) -> bool:
    """Whether a star import may bind any name, ours included."""
    if not isinstance(node, ast.ImportFrom) or all(alias.name != "*" for alias in node.names):
        return False
    return bool(node.level) or (node.module or "").partition(".")[0] not in _STAR_IS_SAFE
