"""What a stretch of code does with data: accesses, possible origins of values, changes, calls.

Made once by `find_accesses`, for loop bodies and for functions alike. An access with fewer subscripts than
the array has axes touches everything along the others, so dropping a subscript is always safe.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace
from enum import Enum

from dlbc.ir.affine import Affine

__all__ = ["FRESH", "Access", "AccessKind", "Call", "Change", "ChangeKind", "Facts", "Origin", "OriginKind",
           "Subscript", "Value"]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Subscript:
    """One axis of an access: affine in the index variable, everything (``:``), or not known.

    ``integer`` says that it is surely one integer, so that the axes after it are where they seem to be.
    """

    text: str
    affine: Affine | None = None
    full: bool = False
    integer: bool = False


class AccessKind(Enum):
    """Reading, overwriting, or both."""

    READ = "read"
    WRITE = "write"
    UPDATE = "update"


@dataclass(frozen=True)
class Access:
    """One access to elements of ``array`` (a dotted name).

    ``sure``: every iteration executes it, once. ``in_place``: it goes through an element object.
    """

    array: str
    subscripts: tuple[Subscript, ...]
    kind: AccessKind
    node: ast.expr | ast.stmt
    sure: bool = False
    in_place: bool = False

    @property
    def writes(self) -> bool:
        """Whether it stores."""
        return self.kind is not AccessKind.READ

    def overlaps(self, array: str) -> bool:
        """Whether it is of that array, of the object that holds it, or of a part of it."""
        return self.array == array or array.startswith(self.array + ".") or self.array.startswith(array + ".")

    def as_origins(self) -> Origins:
        """The place accessed, as the origin of an object found there."""
        return frozenset({Origin(OriginKind.SHARED, self.array, self.subscripts)})

    @property
    def root(self) -> str:
        """The name that the dotted name begins with."""
        return self.array.partition(".")[0]


class OriginKind(Enum):
    """Where an object that code holds may come from, other than being new."""

    SHARED = "shared"
    ELEMENT = "element"
    UNKNOWN = "unknown"
    CLOSURE = "closure"


@dataclass(frozen=True, slots=True)
class Origin:
    """An object may be (part of) ``name`` at ``subscripts``; ``open`` if more subscripts may follow."""

    kind: OriginKind
    name: str = ""
    subscripts: tuple[Subscript, ...] = ()
    open: bool = True


Origins = frozenset[Origin]


@dataclass(frozen=True, slots=True)
class Value:
    """What an expression may be: ``outer`` itself, ``inner`` what can be reached in it; empty is new."""

    outer: Origins = frozenset()
    inner: Origins = frozenset()

    def __or__(self, other: Value) -> Value:
        return Value(self.outer | other.outer, self.inner | other.inner)

    @property
    def element(self) -> Value:
        """What taking an element, an attribute or an iterated item of it may be."""
        reach = frozenset(replace(o, open=False) for o in self.outer | self.inner)
        return Value(reach, reach)

    @property
    def contained(self) -> Value:
        """A new object that holds it."""
        return Value(frozenset(), self.outer | self.inner)


FRESH = Value()


class ChangeKind(Enum):
    """How an object is changed other than by a subscript store on a shared name."""

    SUBSCRIPT = "subscript"
    ATTRIBUTE = "attribute"
    AUGMENTED = "augmented"
    METHOD = "method"
    ARGUMENT = "argument"
    DELETE = "delete"


@dataclass(frozen=True)
class Change:
    """An object with these origins is changed in place; ``method`` or function name where one does it."""

    origins: Origins
    kind: ChangeKind
    node: ast.expr | ast.stmt
    detail: str = ""


@dataclass(frozen=True)
class Call:
    """One call. ``function`` is its dotted name: resolved (``numpy.zeros``), or ``.method``, or empty."""

    function: str
    node: ast.Call
    receiver: Value | None
    arguments: tuple[tuple[str | int, Value, ast.expr], ...]


@dataclass
class Facts:
    """Everything found in one stretch of code, in document order."""

    accesses: list[Access] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    escapes: list[tuple[Value, ast.expr]] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)
