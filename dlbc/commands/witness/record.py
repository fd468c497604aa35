"""The accesses of iterations to elements, and the first pair of accesses that makes two iterations dependent.

Law: two accesses of different iterations to one element conflict unless both read, or both belong to one
operation that is combined in iteration order (a reduction, an ordered effect). For each kind of access, an
element keeps the last access and the last one of an earlier iteration. Iterations come in order, so an access
has an earlier partner if and only if one of these two belongs to an earlier iteration. What each iteration
may have a copy of (scalars, `private` arrays) conflicts only if a value flows from one iteration into
another.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from dlbrt.records import dataclass

from dlbc.ir.annotation import Annotation
from dlbc.source import Source, SourcePlace

#: Kinds of access; every other kind is the operator of a reduction (`+`, `max`, `select <`).
READ, STORE, READ_STORE = "read", "store", "read and store"
#: Effects that are replayed in iteration order, so that they do not conflict among themselves.
APPEND, INSERT = "append", "insert"
_PLAIN = frozenset({READ, STORE, READ_STORE})

#: For the report, past and present tense.
VERBS = {READ: ("read", "reads"), STORE: ("stored to", "stores to"), APPEND: ("added to", "adds to")}
VERBS |= {READ_STORE: ("read and stored to", "reads and stores to"), INSERT: VERBS[STORE]}


@dataclass(frozen=True, slots=True)
class AccessSite:
    """An expression of the program that accesses elements; ``text`` is the text of their container."""

    source: Source
    place: SourcePlace
    text: str


#: Gives each place its number.
SiteNumbers = Callable[[AccessSite], int]


@dataclass(frozen=True)
class WatchedLoop:
    """An annotated loop; ``names`` are the names in it, in order; ``unwatched``: why it cannot be watched."""

    place: SourcePlace
    annotation: Annotation
    names: tuple[str, ...]
    unwatched: str = ""


@dataclass(frozen=True, slots=True)
class RecordedAccess:
    """One access: the iteration (from 0), the kind, the place, and its number in the run."""

    iteration: int
    kind: str
    site: AccessSite
    order: int


@dataclass(frozen=True, slots=True)
class IterationConflict:
    """Two accesses that make their iterations dependent; the iterations and the element are texts."""

    loop: WatchedLoop
    run: int
    earlier: RecordedAccess
    later: RecordedAccess
    iterations: tuple[str, str]
    element: str


class _Shared:
    """The accesses to an element that all iterations share."""

    __slots__ = ("kinds",)

    def __init__(self) -> None:
        self.kinds: dict[str, tuple[RecordedAccess, RecordedAccess | None]] = {}

    def add(self, new: RecordedAccess) -> RecordedAccess | None:
        """Record an access; return the one of an earlier iteration that it conflicts with, if any."""
        partner: RecordedAccess | None = None
        for kind, (last, before) in self.kinds.items():
            earlier = last if last.iteration != new.iteration else before
            if earlier and _clash(kind, new.kind) and (not partner or earlier.order > partner.order):
                partner = earlier
        held = self.kinds.get(new.kind)
        if held is None or held[0].iteration == new.iteration:
            self.kinds[new.kind] = (new, held[1] if held else None)
        else:
            self.kinds[new.kind] = (new, held[0])
        return partner


def _clash(one: str, other: str) -> bool:
    return one != other or (one in _PLAIN and one != READ)


class _Private:
    """The accesses to an element of which each iteration may have a copy: only the flow of values counts.

    From the store of a new value on, an iteration is independent of earlier ones; an update does not make it
    so.
    """

    __slots__ = ("before", "defined", "exposed", "written")

    def __init__(self) -> None:
        self.defined = -1
        self.written: RecordedAccess | None = None
        self.before: RecordedAccess | None = None
        self.exposed: RecordedAccess | None = None

    def add(self, new: RecordedAccess) -> RecordedAccess | None:
        """As `_Shared.add`."""
        if new.kind == STORE:
            self.defined = new.iteration
        partner = None if self.defined == new.iteration else self._partner(new)
        if new.kind == READ and self.defined != new.iteration:
            self.exposed = new
        if new.kind != READ:
            if self.written and self.written.iteration != new.iteration:
                self.before = self.written
            self.written = new
        return partner

    def _partner(self, new: RecordedAccess) -> RecordedAccess | None:
        within = self.written and self.written.iteration == new.iteration
        written = self.before if within else self.written
        if written and _clash(written.kind, new.kind):
            return written
        earlier = self.exposed and self.exposed.iteration != new.iteration
        return self.exposed if earlier and new.kind not in _PLAIN else None


class WatchedRun:
    """One execution of an annotated loop; ``iteration`` is -1 between iterations."""

    def __init__(self, loop: WatchedLoop, number: int) -> None:
        self.loop = loop
        self.number = number
        self.iteration = -1
        self.started = 0
        self.accesses = 0
        self.values: list[tuple[object, ...]] = []
        self.found: tuple[RecordedAccess, RecordedAccess] | None = None
        self.element = ""
        self._elements: dict[Hashable, _Shared | _Private] = {}

    def record_access(self, key: Hashable, kind: str, site: AccessSite, private: bool = False) -> bool:
        """Record an access to the element ``key``; whether it conflicts with an earlier one."""
        self.accesses += 1
        element = self._elements.get(key)
        if element is None:
            element = self._elements[key] = _Private() if private else _Shared()
        new = RecordedAccess(self.iteration, kind, site, self.accesses)
        earlier = element.add(new)
        if earlier is None:
            return False
        self.found = (earlier, new)
        return True

    def labels(self, one: int, other: int) -> tuple[str, str]:
        """Two iterations in the program's own terms, `i = 3`, with their numbers if these terms are equal."""
        labels = self._label(one), self._label(other)
        if labels[0] != labels[1]:
            return labels
        return f"number {one}, {labels[0]}", f"number {other}, {labels[1]}"

    def _label(self, iteration: int) -> str:
        shown = []
        values = self.values[iteration]
        for name, value in zip(values[::2], values[1::2], strict=True):
            if isinstance(value, int | float | complex | str | bytes | None) and len(repr(value)) <= 40:
                shown.append(f"{name} = {value!r}")
        return ", ".join(shown) or f"number {iteration}"

    def release(self) -> None:
        """Forget the elements: the loop is over, or its conflict is found."""
        self._elements.clear()
