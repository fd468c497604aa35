"""The operations that a log names, by number, and how operands are kept until they are applied.

The law: what is applied later is what Python would have applied at once, the same function to the same
operands, so that the result has the same bits, type and identity.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, ItemsView, KeysView, Mapping, ValuesView
from numbers import Number
from typing import Any, NoReturn

import numpy as np

from dlbrt.data.set_tables import copy_of
from dlbrt.records import dataclass
from dlbrt.reductions.kinds import ARITHMETIC

_PLAIN: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any], str]] = {
    "+": (operator.add, operator.iadd, "add"),
    "-": (operator.sub, operator.isub, "sub"),
    "*": (operator.mul, operator.imul, "mul"),
    "&": (operator.and_, operator.iand, "and"),
    "|": (operator.or_, operator.ior, "or"),
    "^": (operator.xor, operator.ixor, "xor"),
}


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda old, operand: function(operand, old)


def _both(function: Callable[[Any, Any], Any]) -> tuple[Callable[[Any, Any], Any], ...]:
    return function, _reflected(function)


#: By number, the function from old value and operand to the new value; three for each arithmetic operator.
APPLY: tuple[Callable[[Any, Any], Any], ...] = (
    *(f for s in ARITHMETIC for f in (_PLAIN[s][0], _PLAIN[s][1], _reflected(_PLAIN[s][0]))),
    *_both(lambda one, other: max(one, other)),
    *_both(lambda one, other: min(one, other)),
    lambda old, operand: old and operand,
    lambda old, operand: old or operand,
)
MAX, MAX_REFLECTED, MIN, MIN_REFLECTED, _AND, _OR = range(len(APPLY) - 6, len(APPLY))

#: Other kinds of entries: several operations on one element, ``ufunc.at``, ``ufunc(..., out=...)``, a run's
#: share, a selection, a method call, a store under a key, a use of the item under a key, text written, bytes
#: written, output flushed, bytes for descriptor 1, and a record of the module logging.
CHAIN, AT, OUT, SHARE, SELECT, CALL, STORE, ITEM, WRITE, RAW, FLUSH, DESCRIPTOR, RECORD = range(
    len(APPLY), len(APPLY) + 13
)

#: How many codes each target of a log has.
WIDTH = RECORD + 1

#: Special method -> operation, for every arithmetic operator in its three forms.
NAMES: dict[str, int] = {
    f"__{prefix}{_PLAIN[sign][2]}__": 3 * place + form
    for place, sign in enumerate(ARITHMETIC)
    for form, prefix in enumerate(("", "i", "r"))
}

#: Types of immutable objects: an operand of such a type needs no copy.
IMMUTABLE: frozenset[type] = frozenset(
    {int, float, complex, bool, str, bytes, type(None), np.float64, np.float32, np.int64, np.int32, np.bool_}
)

#: Types of keys that equal their copies, have the same hash, and are compared by code of Python's own.
PLAIN_KEYS: frozenset[type] = frozenset({str, int, bytes, bool})

_NEVER_CHANGED = (np.generic, Number, str, bytes, tuple, range, frozenset)
_COPIED = (list, set, dict, bytearray, np.ndarray)


class MisuseError(RuntimeError):
    """A loop used a value that it contributes to in a way that the analysis did not find."""


class RefusedOperandError(MisuseError):
    """An operand that the value surely cannot be combined with; ``entry`` is what would have been logged.

    Rank 0 applies the entry last, and so raises what the program raises.
    """

    def __init__(
        self, entry: tuple[Any, ...], why: str = "is combined with a value of another kind", *operand: Any
    ) -> None:
        super().__init__(f"a {type((operand or entry[1:])[0]).__name__} {why}")
        self.entry = entry


@dataclass(frozen=True, slots=True)
class OperandTypes:
    """Types of operands: those that need no copy and may be combined, and those that are surely refused."""

    plain: frozenset[type] = IMMUTABLE
    refused: frozenset[type] = frozenset()


#: Nothing is known of the operands.
ANY_OPERANDS = OperandTypes()

_NUMBERS: frozenset[type] = IMMUTABLE - {str, bytes, type(None)}
_NO_NUMBERS: frozenset[type] = frozenset({type(None), dict, set, str, bytes, list, tuple})


def operand_types(sign: str, value: Any) -> OperandTypes:
    """The types of operands of a value that starts as a number or text, by the operator."""
    if isinstance(value, Number | np.generic):
        refused = _NO_NUMBERS - {str, bytes, list, tuple} if sign == "*" else _NO_NUMBERS
        return OperandTypes(_NUMBERS, refused)
    if type(value) is str and sign == "+":
        return OperandTypes(frozenset({str}), (_NUMBERS | _NO_NUMBERS) - {str})
    return ANY_OPERANDS


class StandIn:
    """A stand-in for a value that iterations contribute to; any other use raises MisuseError."""

    __slots__ = ()
    __array_ufunc__: Any = None  # numpy operands leave the operation to this class

    def _misused(self, *_: object) -> NoReturn:
        raise MisuseError("a value that iterations contribute to is used in another way inside the loop")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._misused()

    __hash__ = None  # type: ignore[assignment]


#: Special methods that Python looks up in the class, past ``__getattr__``.
_USES = (
    "bool len iter call int float index neg pos invert abs str format eq ne lt le gt ge getitem setitem "
    "delitem contains reduce truediv floordiv mod pow matmul rtruediv rfloordiv rmod rpow rmatmul"
)
for _use in _USES.split():
    setattr(StandIn, f"__{_use}__", lambda self, *_: self._misused())


def boolean(sign: str) -> int:
    """The operation of ``and`` or ``or``."""
    return _AND if sign == "and" else _OR


def combining(sign: str) -> int:
    """The operation that combines a share with the value; shares of differences are negative sums."""
    return 3 * ARITHMETIC.index("+" if sign == "-" else sign)


def kept(operand: Any, sign: str = "+", partly: Callable[[list[Any]], None] = lambda _: None) -> Any:
    """An operand as it is now: a copy if it is mutable, read out if reading consumes it (see `read_out`).

    Elements of containers stay the same objects, as the operation itself would take them over.
    """
    if type(operand) in IMMUTABLE or isinstance(operand, _NEVER_CHANGED):
        return operand
    if type(operand) is set:
        return copy_of(operand)
    if isinstance(operand, _COPIED):
        return operand.copy(order="K") if isinstance(operand, np.ndarray) else copy.copy(operand)
    if isinstance(operand, KeysView | ItemsView | ValuesView):
        return list(operand) if sign == "+" else _view_now(operand)
    if hasattr(type(operand), "__next__"):
        return read_out(operand, partly)
    return copy.deepcopy(known(operand))


def _view_now(view: Any) -> Any:
    """A view of a dictionary that does not change with it, in the same order."""
    if isinstance(view, KeysView):
        return dict.fromkeys(view).keys()
    return dict(view).items() if isinstance(view, ItemsView) else dict(enumerate(view)).values()


def kept_key(key: Any) -> Any:
    """A subscript as it is now; an object used as a key stays the same object."""
    if isinstance(key, list | np.ndarray):
        return key.copy()
    return tuple(map(kept_key, key)) if type(key) is tuple else known(key)


def known(value: Any) -> Any:
    """The value; MisuseError if it is a stand-in for a value that iterations contribute to."""
    if isinstance(value, StandIn):
        raise MisuseError("a value that iterations contribute to is used in another way inside the loop")
    return value


def read_out(iterable: Any, partly: Callable[[list[Any]], None]) -> Any:
    """The iterable that a container is extended by, as it is now; its elements stay the same objects.

    Where it fails half-way, ``partly`` gets the elements before, which the container has taken by then.
    """
    if isinstance(iterable, Mapping):
        return dict(iterable)
    if isinstance(iterable, str | bytes | range) or type(iterable) is frozenset:
        return iterable
    if type(iterable) is set:
        return copy_of(iterable)
    found: list[Any] = []
    try:
        found.extend(iterable)
    except BaseException:
        if found:
            partly(found)
        raise
    return found
