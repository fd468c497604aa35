"""An annotated loop found in its module: the tree that analysis reads, the scopes around it."""

from __future__ import annotations

import ast

from dlbrt.records import dataclass

from dlbc.ir.annotation import Annotation
from dlbc.source import Source

__all__ = ["AnnotatedLoop", "AnnotatedRoutine", "Module", "Scope"]

Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda


@dataclass(frozen=True)
class Module:
    """A parsed file. ``tree`` is CPython's own; rewriting uses the lossless one of the emitter."""

    source: Source
    tree: ast.Module


@dataclass(frozen=True)
class AnnotatedLoop:
    """A ``for`` statement with its annotation.

    ``ordinal`` counts the loops of the file (`for`, `async for`, `while`) in document order from 0: it
    names the same loop in CPython's tree and in the lossless tree. ``number`` counts the emitted
    parallel loops from 1. ``path`` holds the enclosing nodes from the module (first) down to the
    statement list's owner (last); ``scope`` is the innermost function, class or module. ``read_by_costs``:
    names that clauses of other loops read, which no statement need show.
    """

    node: ast.For
    annotation: Annotation
    ordinal: int
    number: int
    path: tuple[ast.AST, ...]
    scope: Scope
    read_by_costs: frozenset[str] = frozenset()


@dataclass(frozen=True)
class AnnotatedRoutine:
    """A sequential loop annotated `iterate`, around parallel ones; fields as of `AnnotatedLoop`."""

    node: ast.For | ast.While
    annotation: Annotation
    ordinal: int
    path: tuple[ast.AST, ...]
    scope: Scope
