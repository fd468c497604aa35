"""What a call does to its function, its receiver and its arguments, as far as looking and changing go.

What is not known by a table, or seen to do no more (`ir.closed_functions`), may look into and change all that
it can reach: itself, the object it is called on, its arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from dlbrt.records import dataclass

from dlbc.ir.callees import functions_among
from dlbc.ir.given_back import is_new
from dlbc.ir.known_calls import (
    DRAWS,
    FORM_CALLS,
    HIGHER,
    MUTATORS,
    NUMPY_IN_PLACE,
    ORDERED,
    OUT_AT,
    PURE_METHODS,
    PURE_PACKAGES,
)
from dlbc.ir.plain import (
    KEPT_OUT,
    NOT_FRESH,
    PICKS,
    READING,
    REFLECTIVE_BUILTINS,
    Kind,
    Values,
    dotted_name,
    is_library,
    passes_out,
)
from dlbc.ir.region import ModuleNames
from dlbc.ir.routine import Touch

__all__ = ["Argument", "CallRules", "Handling"]

_FORM = FORM_CALLS | {
    "builtins.issubclass", "builtins.callable", "numpy.empty_like", "numpy.zeros_like", "numpy.ones_like",
    "numpy.full_like",
}  # fmt: skip
#: Functions that store into their first argument, beside those of the table.
_IN_PLACE = NUMPY_IN_PLACE | {"random.shuffle", "numpy.random.shuffle", "numpy.nditer", "builtins.getattr"}
#: Packages beside the pure ones whose functions look at their arguments, and no more.
_READERS = ("matplotlib.", "logging.", "warnings.", "pprint.", "csv.", "imageio.", "PIL.", "textwrap.",
            "traceback.", "pathlib.", "random.", "pickle.", "io.", "builtins.")  # fmt: skip
#: Names that begin so store into their first argument, in-place operators among them.
_STORING = ("numpy.ndarray.", "numpy.nan_to_num", "operator.i")
#: Functions and methods whose names end so fill their arguments: `readinto`, `pack_into`.
_FILLERS = ("into", "readv")
_SHUFFLES = frozenset({"shuffle", "permuted", "permutation"})
#: Methods that run code with what they are given.
_SENDERS = frozenset({"send", "throw"})
#: Methods of containers that look at no item: of a list `index` or `sort` would.
_CONTAINER = ORDERED | {"insert", "clear", "pop", "popleft", "setdefault", "get", "update", "items", "values",
                        "keys", "reverse", "rotate", "copy", "popitem"}  # fmt: skip


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
        if name.removeprefix("builtins.") in REFLECTIVE_BUILTINS:
            return Handling(Touch.WRITE, _all(call, Touch.READ), unseen=True)
        if name in _FORM and not (name == "builtins.len" and "__len__" in self.world.methods):
            form = {*call.args[:1], *(call.args[1:] if name == "builtins.isinstance" else ())}
            free = (Argument(a, Touch.MOVE if a in form else Touch.READ, kept=False) for a in _given(call))
            return Handling(Touch.MOVE, tuple(free))
        if name in HIGHER:
            return Handling(Touch.MOVE, tuple(self._higher(call, name, touch)))
        stored = set(self._stored(call, name))
        if is_new(name, call) and not any(k.arg in KEPT_OUT for k in call.keywords):
            return Handling(Touch.MOVE, _except(call, stored, Touch.READ, kept=False))
        if name.startswith((*PURE_PACKAGES, *_READERS)):
            kept = name != "builtins.print"
            return Handling(Touch.MOVE, _except(call, stored, max(Touch.READ, touch), kept))
        return Handling(Touch.MOVE, _all(call, Touch.WRITE), unseen=True)

    def _stored(self, call: ast.Call, name: str) -> Iterator[ast.expr]:
        """The arguments that a library's function stores into."""
        in_place = name in _IN_PLACE or (name.startswith("numpy.") and name.endswith(".at"))
        if in_place or name.startswith(_STORING):
            yield from call.args[:1] or _given(call)  # by keyword: `np.copyto(dst=u, src=v)`
        else:
            yield from (a for a in passes_out(call, name) if self.values.kind(a) is not Kind.SCALAR)
        yield from (k.value for k in call.keywords if k.arg == "out")
        overwritten = any((k.arg or "").startswith("overwrite") for k in call.keywords)
        if overwritten or name.endswith(_FILLERS):
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
        return bool(name) and is_library(name) and name not in _IN_PLACE

    def _method(self, call: ast.Call, func: ast.Attribute, touch: Touch) -> Handling:
        receiver, method = func.value, func.attr
        if method in self.world.methods or self._is_type(receiver):
            return _unseen(call)
        kind = self.values.kind(receiver)
        if kind is Kind.SCALAR:
            filled = set(_given(call)) if method.endswith(_FILLERS) else set(_shuffled(call, method))
            least = max(Touch.READ, touch) if method in PICKS else Touch.READ
            return Handling(Touch.MOVE, _except(call, filled, least, kept=method in PICKS))
        if method in _CONTAINER and self.container(receiver):
            return Handling(touch, _all(call, Touch.MOVE))
        stored = {k.value for k in call.keywords if k.arg == "out"}
        first = min(1, OUT_AT.get(f".{method}", 1))
        stored |= {a for a in call.args[first:] if self.values.kind(a) is not Kind.SCALAR}
        if method in READING:
            return Handling(Touch.READ, _except(call, stored, Touch.READ, kept=False))
        if method in PURE_METHODS | NOT_FRESH:
            return Handling(max(Touch.READ, touch), _except(call, stored, max(Touch.READ, touch), kept=True))
        if method in DRAWS:
            stored |= set(_shuffled(call, method))
            return Handling(Touch.WRITE, _except(call, stored, max(Touch.READ, touch), kept=True))
        if method in (MUTATORS | ORDERED) - _SENDERS:
            return Handling(Touch.WRITE, _all(call, Touch.READ))
        return _unseen(call)

    def _is_type(self, receiver: ast.expr) -> bool:
        """Whether a method is called as a function of its type: ``list.sort(xs)``."""
        return isinstance(receiver, ast.Name) and dotted_name(receiver, self.world).startswith("builtins.")


def _shuffled(call: ast.Call, method: str) -> list[ast.expr]:
    """What a random generator changes the order of."""
    return call.args[:1] if method in _SHUFFLES else []


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
