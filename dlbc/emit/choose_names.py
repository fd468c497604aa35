"""The names that a generated program adds, chosen so that none of them is the user's own."""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from dlbrt.contract import DISTRIBUTIONS

__all__ = ["Names", "choose_names"]

_OWN = ("dlb", "MPI", "dlbrt", "_dlb_after", *DISTRIBUTIONS)
_STAR_IS_SAFE = sys.stdlib_module_names | {"numpy", "scipy", "matplotlib", "pylab"}


@dataclass(frozen=True, slots=True)
class Names:
    """``kernels`` in the order of the loops, ``distributions`` as pairs of the runtime's name and ours."""

    dlb: str
    mpi: str
    runtime: str
    after: str
    distributions: tuple[tuple[str, str], ...]
    kernels: tuple[str, ...]

    def distribution(self, name: str) -> str:
        """The name of ``BLOCK``, ``CYCLIC`` or ``WHOLE`` in the program."""
        return dict(self.distributions)[name]


def choose_names(tree: ast.Module, loops: int) -> Names:
    """Names that stand nowhere in the module as a variable, function, class or import."""
    taken = set(_identifiers(tree))
    if any(_hides_names(node) for node in ast.walk(tree)):
        taken.update(_OWN)
    return Names(
        dlb=_fresh("dlb", taken),
        mpi=_fresh("MPI", taken),
        runtime=_fresh("dlbrt", taken),
        after=_fresh("_dlb_after", taken),
        distributions=tuple((name, _fresh(name, taken)) for name in DISTRIBUTIONS),
        kernels=tuple(_fresh(f"_dlb_loop_{number}", taken) for number in range(1, loops + 1)),
    )


def _fresh(name: str, taken: set[str]) -> str:
    candidates = itertools.chain([name], (f"{name}_{k}" for k in itertools.count(2)))
    return next(c for c in candidates if c not in taken)


def _identifiers(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=alias):
                yield alias or name.partition(".")[0]
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from names
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name


def _hides_names(node: ast.AST) -> bool:
    """Whether a star import may bind any name, ours included."""
    if not isinstance(node, ast.ImportFrom) or all(alias.name != "*" for alias in node.names):
        return False
    return bool(node.level) or (node.module or "").partition(".")[0] not in _STAR_IS_SAFE
