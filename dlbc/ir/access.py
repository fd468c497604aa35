"""What a stretch of code does with data: accesses, possible origins of values, changes, calls.

Made once by `find_accesses`, for loop bodies and for functions alike. An access with fewer subscripts than
the array has axes touches everything along the others, so dropping a subscript is always safe.
"""

from __future__ import annotations

import ast
from dataclasses import field, replace
from enum import Enum

from dlbrt.records import dataclass

from dlbc.ir.form import Condition, Form, Kind, Variable

__all__ = ["FRESH", "Access", "AccessKind", "Binder", "Call", "Change", "ChangeKind", "Domain", "Facts",
           "Origin", "OriginKind", "Subscript", "Value"]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Subscript:
    """One axis of an access: one integer (``form``), everything (``:``), a slice, or not known.

    ``integer`` says that it is surely one integer, so that the axes after it are where they seem to be.
    ``span``: start, stop (None: the axis's end) and step, which is positive, of a slice.
    """

    text: str
    form: Form | None = None
    full: bool = False
    integer: bool = False
    span: tuple[Form | None, Form | None, int] | None = None

    @property
    def moves(self) -> bool:
        """Whether it depends on the loop's index by itself, wherever inner loops are."""
        return any(form.moves((Kind.INDEX,)) for form in self.forms)

    @property
    def forms(self) -> tuple[Form, ...]:
        """The forms it consists of."""
        ends = (self.form,) if self.span is None else self.span[:2]
        return tuple(form for form in ends if form is not None)

    def loosened(self, around: frozenset[int]) -> Subscript:
        """With the variables of inner loops other than those ``around`` as of some other time."""
        if not any(v.kind is Kind.INNER and v.number not in around for f in self.forms for v in f.variables):
            return self

        def loose(variable: Variable) -> Form:
            away = variable.kind is Kind.INNER and variable.number not in around
            return Form.of(replace(variable, loose=True) if away else variable)

        if self.span is None:
            return replace(self, form=None if self.form is None else self.form.replaced(loose))
        start, stop, step = self.span
        ends = [None if end is None else end.replaced(loose) for end in (start, stop)]
        return replace(self, span=(ends[0], ends[1], step))


@dataclass(frozen=True, slots=True)
class Binder:
    """The variable of an inner loop over ``range(start, stop, step)``; None where not known.

    ``known``: it takes all of these values and no others.
    """

    variable: Variable
    start: Form | None
    stop: Form | None
    step: int | None
    known: bool = True


@dataclass(frozen=True, slots=True)
class Domain:
    """When something is executed: inner loops, outermost first, and conditions around it.

    ``exact``: in every iteration, once for each value of the variables that satisfy them; otherwise
    for no others.
    """

    binders: tuple[Binder, ...] = ()
    guards: tuple[Condition, ...] = ()
    exact: bool = True


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
    domain: Domain = Domain(exact=False)

    @property
    def writes(self) -> bool:
        """Whether it stores."""
        return self.kind is not AccessKind.READ

    @property
    def complete(self) -> bool:
        """Whether its subscripts are all that stands in its brackets, so that it is of one element or row."""
        node, depth = self.node, 0
        while isinstance(node, ast.Subscript):
            depth += len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
            node = node.value
        return depth == len(self.subscripts)

    @property
    def direct(self) -> bool:
        """Whether the brackets stand behind the array's own name, not that of a view or an argument."""
        node: ast.AST = self.node
        while isinstance(node, ast.Subscript):
            node = node.value
        return ast.unparse(node) == self.array

    def overlaps(self, array: str) -> bool:
        """Whether it is of that array, of the object that holds it, or of a part of it."""
        return self.array == array or array.startswith(self.array + ".") or self.array.startswith(array + ".")

    def as_origins(self) -> Origins:
        """The place accessed, as the origin of an object found there."""
        return frozenset({Origin(OriginKind.SHARED, self.array, self.subscripts)})

    def under(self, array: str, shift: Form | None) -> Access:
        """The same access through another name, whose subscripts on axis 0 are ``shift`` greater.

        None: which part of the array it is is not known.
        """
        if shift is None:
            return replace(self, array=array, subscripts=(Subscript("..."),))
        if not self.subscripts or not shift.terms:
            return replace(self, array=array)
        first = self.subscripts[0]
        # The ends of a slice may count from the view's own end.
        moved = Subscript(first.text) if first.form is None else replace(first, form=first.form + shift)
        return replace(self, array=array, subscripts=(moved, *self.subscripts[1:]))

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
    """What an expression may be: ``outer`` itself, ``inner`` what can be reached in it; empty is new.

    ``holds``: it may be a container made here, of whose items one may be changed in place (``t[0] += 1``).
    """

    outer: Origins = frozenset()
    inner: Origins = frozenset()
    holds: bool = False

    def __or__(self, other: Value) -> Value:
        return Value(self.outer | other.outer, self.inner | other.inner, self.holds or other.holds)

    @property
    def element(self) -> Value:
        """What taking an element, an attribute or an iterated item of it may be."""
        reach = frozenset(replace(o, open=False) for o in self.outer | self.inner)
        return Value(reach, reach)

    @property
    def contained(self) -> Value:
        """A new object that holds it."""
        return Value(frozenset(), self.outer | self.inner, holds=True)


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
    domain: Domain = Domain(exact=False)


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
