"""The row type of the library table: what one function or method, or a family of them, does.

A property that a row does not name has the value for an unknown function: its result may be any of its
arguments, and it reads all of them. That it stores into none of them is what its package promises.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from enum import Enum
from typing import TypeAlias

from dlbrt.records import dataclass

#: An argument by its position or keyword, as calls list them.
Key: TypeAlias = int | str


class ResultKind(Enum):
    """How the result may relate to the arguments, and to a method's object; arrays of objects apart."""

    PART = "an argument, a view or an element of one"
    VIEW = "a view of an argument where numpy can make one"
    HANDLE = "a way into the first argument that is not followed"
    HOLDER = "a new container that holds what the arguments hold"
    SAME = "what the method is called on where there is nothing to do"
    NEW = "shares nothing with the arguments"
    COMPUTED = "new, and plain where all arguments are"
    PLAIN = "a number, text, None, a tuple of such, an open file: nothing that can hold an array"


class Reads(Enum):
    """What a function reads in the arguments that it does not store into."""

    ALL = "all elements"
    ITEMS = "the items, not what these hold"
    FORM = "of its first argument the length, type or identity alone"
    LIKE = "of its first argument the form and the element type alone"
    NOTHING = "no element"


class EffectKind(Enum):
    """Kinds of effects; the value is the diagnostic that refuses it."""

    FILE = "DLB402"
    INPUT = "DLB403"
    RANDOM = "DLB404"
    DRAW = "DLB405"
    ORDERED = "DLB406"
    MUTATE = "DLB407"
    ARGUMENT = "DLB410"
    OBJECT = "DLB422"


class CostKind(Enum):
    """What determines the time of a call."""

    PRODUCT = "scalar or matrix product of the first two arguments"
    REDUCTION = "reads all elements, gives one number, or one per row"
    LIKE = "makes an array of the shape of its argument, reading it or not"
    CREATION = "makes an array of the shape that the first argument says"
    ITEMS = "goes through all items of its only argument"


@dataclass(frozen=True, slots=True)
class Back:
    """Arguments that the result may be (``same``), be a view of, or hold."""

    same: frozenset[Key] = frozenset()
    views: frozenset[Key] = frozenset()
    held: frozenset[Key] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryCall:
    """What calling a function or method does.

    Arguments and result:

    * ``known``: the table has a row. ``rule``: tells of a call which arguments may come back; where there are
      none, the result is new.
    * ``stores_at``: the position of the argument that it stores into. ``out_at``: from this position on
      arguments are places for results. ``in_place_at``: that of the switch to work in the first argument.
    * ``calls``: the positions of functions that it calls, empty if they come by keyword alone; ``applies``:
      its result is, or holds, what these give.
    * ``exhausts``: a generator is read to its end, or given up, before it returns.
    * ``iterator``: the result is one. ``same_items``: iterating the result gives the items of the first
      argument; ``as_long``: as many. ``container``: the result is a list, set, dictionary or deque.

    The world outside:

    * ``effect``: on its object, or the world; ``prints``: to standard output; ``reflective``: it looks at the
      whole program. ``fickle``: another value each time. ``generator``: makes a random generator.

    Arithmetic: ``elementwise``, and the binary ``operator`` that it is. ``cost``: None is one operation.

    Methods alone:

    * ``element``: gives an element of a container, or an argument. ``fills``: puts arguments into one.
      ``moves_only``: looks at no item of a container. ``sends``: runs code with what it is given.
    * ``picks``: a draw that gives or reorders part of its arguments; ``shuffles``: it reorders the first one.
    * ``distinct``: the name means this effect, whatever it belongs to.
    """

    result: ResultKind = ResultKind.PART
    known: bool = True
    rule: Callable[[ast.Call], Back] | None = None
    reads: Reads = Reads.ALL
    stores_at: int | None = None
    out_at: int | None = None
    in_place_at: int | None = None
    calls: tuple[int, ...] | None = None
    applies: bool = False
    exhausts: bool = False
    iterator: bool = False
    same_items: bool = False
    as_long: bool = False
    container: bool = False
    effect: EffectKind | None = None
    prints: bool = False
    reflective: bool = False
    fickle: bool = False
    generator: bool = False
    elementwise: bool = False
    operator: str = ""
    cost: CostKind | None = None
    element: bool = False
    fills: bool = False
    moves_only: bool = False
    sends: bool = False
    picks: bool = False
    shuffles: bool = False
    distinct: bool = False

    @property
    def is_new(self) -> bool:
        """Whether the result shares nothing with the arguments, whatever these are."""
        return self.result in (ResultKind.NEW, ResultKind.COMPUTED, ResultKind.PLAIN)

    @property
    def computes(self) -> bool:
        """Whether the result is new, or by rule an argument that there was nothing to do with."""
        return self.is_new or self.rule is not None

    @property
    def stores(self) -> bool:
        """Whether it always stores into an argument."""
        return self.stores_at is not None

    @property
    def is_effective(self) -> bool:
        """Whether it does anything but give a result."""
        return self.effect is not None or self.prints or self.stores

    @property
    def is_repeatable(self) -> bool:
        """Whether calling it once more, or once less, makes no difference but time."""
        looks = self.computes or self.result in (ResultKind.HOLDER, ResultKind.SAME)
        looks = looks or self.cost is CostKind.ITEMS
        odd = self.fickle or self.generator or self.iterator or self.calls
        return looks and not (self.is_effective or odd)

    @property
    def is_reader(self) -> bool:
        """Of a method: whether it does no more than read what it is called on, and gives part of it back."""
        gives_part = self.result in (ResultKind.PART, ResultKind.VIEW)
        return self.known and gives_part and not (self.is_effective or self.iterator)


Rows: TypeAlias = dict[str, LibraryCall]


def family(prefix: str, names: str, **properties: object) -> Rows:
    """The same row for several names, which stand with blanks between them."""
    row = LibraryCall(**properties)  # type: ignore[arg-type]  # mypy cannot see the names of the columns
    return {prefix + name: row for name in names.split()}


def table(*families: Rows) -> Rows:
    """All rows of several families; ValueError if a name has two."""
    found: Rows = {}
    for rows in families:
        if twice := found.keys() & rows.keys():
            raise ValueError(f"two rows for {', '.join(sorted(twice))}")
        found |= rows
    return found
