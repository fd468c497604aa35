"""What a call does to its function, its receiver and its arguments, as far as looking and changing go.

What is not known by a table, or seen to do no more (`ir.closed_functions`), may look into and change all that
it can reach: itself, the object it is called on, its arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from dlbrt.records import dataclass

from dlbc.ir.callees import functions_among
from dlbc.ir.plain import KEPT_OUT, READING, Kind, Values, dotted_name
from dlbc.ir.region import ModuleNames
from dlbc.ir.routine import Touch
from dlbc.library.row import Effect, Reads, ResultKind
from dlbc.library.table import (
    is_library,
    is_new,
    lookup,
    only_reads,
    places_for_results,
    works_in_place,
)

__all__ = ["Argument", "CallRules", "Handling"]

#: Functions and methods whose names end so fill their arguments: `readinto`, `pack_into`.
_FILLERS = ("into", "readv")


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument; ``kept``: the function may hand it on, to its result or elsewhere."""

    node: ast.expr
    touch: Touch
    kept: bool


@dataclass(frozen=True, slots=True)
class Handling:
    """``callee`` is what is done to the function (of a method: to what it is called on)."""

    callee: Touch
    arguments: tuple[Argument, ...]
    unseen: bool = False


@dataclass(frozen=True)
class CallRules:
    """The rules, given what names stand for.

    ``container`` tells of an expression whether it is surely a list, set, dictionary or deque; ``closed``
    gives for a call of a function that is seen through the arguments that it may change, None for any other.
    """

    world: ModuleNames
    values: Values
    container: Callable[[ast.expr], bool]
    closed: Callable[[ast.Call], tuple[frozenset[ast.expr], bool] | None]

    def handling(self, call: ast.Call, touch: Touch) -> Handling:
        """What the call does where ``touch`` is done to its result."""
        name = dotted_name(call.func, self.world)
        if name and is_library(name):
            return self._library(call, name, touch)
        seen = self.closed(call)
        if seen is not None:
            changed, fresh = seen
            least = Touch.READ if fresh else max(Touch.READ, touch)
            given = ((a, Touch.WRITE if a in changed else least) for a in _given(call))
            return Handling(Touch.MOVE, tuple(Argument(a, t, not fresh) for a, t in given))
        if name or not isinstance(call.func, ast.Attribute):
            return _unseen(call)
        return self._method(call, call.func, touch)

    def _library(self, call: ast.Call, name: str, touch: Touch) -> Handling:
        row = lookup(name)
        if row.reflective:
            return Handling(Touch.WRITE, _all(call, Touch.READ), unseen=True)
        own_len = name == "builtins.len" and "__len__" in self.world.methods
        if row.reads in (Reads.FORM, Reads.LIKE) and not own_len:
            form = {*call.args[:1], *(call.args[1:] if name == "builtins.isinstance" else ())}
            free = (Argument(a, Touch.MOVE if a in form else Touch.READ, kept=False) for a in _given(call))
            return Handling(Touch.MOVE, tuple(free))
        if row.calls is not None:
            return Handling(Touch.MOVE, tuple(self._higher(call, name, touch)))
        stored = set(self._stored(call, name))
        if is_new(name, call) and not any(k.arg in KEPT_OUT for k in call.keywords):
            return Handling(Touch.MOVE, _except(call, stored, Touch.READ, kept=False))
        if only_reads(name):
            return Handling(Touch.MOVE, _except(call, stored, max(Touch.READ, touch), kept=True))
        return Handling(Touch.MOVE, _all(call, Touch.WRITE), unseen=True)

    def _stored(self, call: ast.Call, name: str) -> Iterator[ast.expr]:
        """The arguments that a library's function stores into."""
        if _stores_first(name) or name.startswith("numpy.ndarray."):
            at = lookup(name).stores_at or 0
            yield from call.args[at : at + 1] or _given(call)  # by keyword: `np.copyto(dst=u, src=v)`
        else:
            yield from (a for a in places_for_results(name, call) if self.values.kind(a) is not Kind.SCALAR)
        yield from (k.value for k in call.keywords if k.arg == "out")
        if works_in_place(name, call) or name.endswith(_FILLERS):
            yield from _given(call)

    def _higher(self, call: ast.Call, name: str, touch: Touch) -> Iterator[Argument]:
        """The functions among the arguments are called: they may do anything to the others."""
        functions = functions_among(call, name)
        harmless = all(self._looks_only(node) for node in functions)
        others = max(Touch.READ, touch) if harmless else Touch.WRITE
        for node in _given(call):
            yield Argument(node, Touch.WRITE if node in functions else others, kept=True)

    def _looks_only(self, function: ast.expr) -> bool:
        if isinstance(function, ast.Lambda):
            return not any(isinstance(n, ast.Call | ast.NamedExpr) for n in ast.walk(function))
        name = dotted_name(function, self.world)
        return bool(name) and is_library(name) and not _stores_first(name)

    def _method(self, call: ast.Call, func: ast.Attribute, touch: Touch) -> Handling:
        receiver, method = func.value, func.attr
        if method in self.world.methods or self._is_type(receiver):
            return _unseen(call)
        row = lookup(f".{method}")
        shuffled = set(call.args[:1]) if row.shuffles else set()  # what a generator changes the order of
        stored = {k.value for k in call.keywords if k.arg == "out"}
        if self.values.kind(receiver) is Kind.SCALAR:
            filled = set(_given(call)) if method.endswith(_FILLERS) else stored | shuffled
            filled |= set(places_for_results(f".{method}", call))
            least = max(Touch.READ, touch) if row.picks else Touch.READ
            return Handling(Touch.MOVE, _except(call, filled, least, kept=row.picks))
        if row.moves_only and self.container(receiver):
            return Handling(touch, _all(call, Touch.MOVE))
        first = 1 if row.out_at is None else min(1, row.out_at)
        stored |= {a for a in call.args[first:] if self.values.kind(a) is not Kind.SCALAR}
        if method in READING:
            return Handling(Touch.READ, _except(call, stored, Touch.READ, kept=False))
        if row.is_reader or row.result in (ResultKind.SAME, ResultKind.HOLDER):
            return Handling(max(Touch.READ, touch), _except(call, stored, max(Touch.READ, touch), kept=True))
        if row.effect is Effect.DRAW:
            return Handling(Touch.WRITE, _except(call, stored | shuffled, max(Touch.READ, touch), kept=True))
        if row.effect in (Effect.MUTATE, Effect.ORDERED) and not row.sends:
            return Handling(Touch.WRITE, _all(call, Touch.READ))
        return _unseen(call)

    def _is_type(self, receiver: ast.expr) -> bool:
        """Whether a method is called as a function of its type: ``list.sort(xs)``."""
        return isinstance(receiver, ast.Name) and dotted_name(receiver, self.world).startswith("builtins.")


def _stores_first(name: str) -> bool:
    """Whether the function stores into its first argument, or gives a way into it that is not followed."""
    row = lookup(name)
    return row.stores or row.result is ResultKind.HANDLE


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(k.value for k in call.keywords)]


def _all(call: ast.Call, touch: Touch, kept: bool = True) -> tuple[Argument, ...]:
    return tuple(Argument(node, touch, kept) for node in _given(call))


def _except(call: ast.Call, stored: set[ast.expr], touch: Touch, kept: bool) -> tuple[Argument, ...]:
    """All arguments with the same touch, but for those stored into."""
    return tuple(
        Argument(node, Touch.WRITE if node in stored else touch, kept or node in stored)
        for node in _given(call)
    )


def _unseen(call: ast.Call) -> Handling:
    return Handling(Touch.WRITE, _all(call, Touch.WRITE), unseen=True)
