"""Many numbers combined with a value at once, with the bits of one after the other.

For floats ``np.add.accumulate`` does so: it adds one operand after the other, as Python does. Where it is not
sure that the outcome is the same (a warning, an integer of Python's that is too large), there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dlbrt.records import dataclass
from dlbrt.reductions.operations import APPLY, NAMES

#: Integers up to this magnitude are floats exactly.
_EXACT = 1 << 53

#: Sums of integers stay below this, so that 64 bits hold them.
_LIMIT = float(1 << 62)

#: Arithmetic operations, plain and in place, with a ufunc that accumulates one operand after the other.
_ACCUMULATE = {0: np.add, 1: np.add, 3: np.subtract, 4: np.subtract, 6: np.multiply, 7: np.multiply}

#: Reflected operations that commute on floats, and the plain operations that equal them.
_COMMUTED = {2: 0, 8: 6}

_FLOATS, _INTEGERS = (float, np.float64), (int, np.int64)


@dataclass(frozen=True, slots=True)
class Numbers:
    """Operands of one operation, of consecutive iterations: numbers of one type, as an array.

    ``kind`` is their type in the program: int, float, np.int64 or np.float64.
    """

    kind: type
    values: np.ndarray[Any, Any]

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, part: slice) -> Numbers:
        return Numbers(self.kind, self.values[part])

    def taken(self, order: np.ndarray[Any, Any]) -> Numbers:
        """These numbers in another order."""
        return Numbers(self.kind, self.values[order])

    def listed(self) -> list[Any]:
        """The numbers as they are in the program."""
        return list(self.values) if issubclass(self.kind, np.generic) else self.values.tolist()


def folded(operation: int, value: Any, numbers: Numbers) -> Any:
    """The outcome of an operation with the numbers, one after the other; None where it is not sure."""
    ufunc = _ACCUMULATE.get(_COMMUTED.get(operation, operation))
    if ufunc is None or not len(numbers) or type(value) not in (*_FLOATS, *_INTEGERS):
        return None
    if numbers.kind in _INTEGERS:
        return _of_integers(ufunc, value, numbers) if type(value) in _INTEGERS else None
    if type(value) is np.int64 or (type(value) is int and abs(value) > _EXACT):
        return None
    steps = np.empty(len(numbers) + 1)
    steps[0], steps[1:] = value, numbers.values
    with np.errstate(all="ignore"):
        outcome = ufunc.accumulate(steps, out=steps)[-1]
    if not np.isfinite(outcome):  # a NaN has more bits than its value, and numpy may warn
        return None
    return outcome if np.float64 in (type(value), numbers.kind) else outcome.item()


def _of_integers(ufunc: Any, value: Any, numbers: Numbers) -> Any:
    if ufunc is np.multiply:
        return None
    sign = 1 if ufunc is np.add else -1
    if np.int64 not in (type(value), numbers.kind):
        return value + sign * sum(numbers.values.tolist())
    if abs(float(value)) + float(np.abs(numbers.values.astype(float)).sum()) >= _LIMIT:
        return None
    return np.int64(int(value) + sign * int(numbers.values.sum()))


def is_combinable(value: Any) -> bool:
    """Whether a value is a number that can be combined with any of `Numbers`, without an exception."""
    kind = type(value)
    return kind in _FLOATS or (kind in _INTEGERS and abs(int(value)) < _LIMIT)


class Operands:
    """Stands for what iterations contribute to one name: ``total += operands`` combines it with all of them.

    A stand-in for the value has them logged, by ``log`` with the code of the operation.
    """

    __slots__ = ("_numbers", "log")
    __array_ufunc__: Any = None  # numbers of numpy leave the operation to this class

    def __init__(self, numbers: Numbers, log: Callable[[int], None]) -> None:
        self._numbers = numbers
        self.log = log

    def combined(self, operation: int, value: Any) -> Any:
        """The value after the operation with all of them, in order."""
        outcome = folded(operation, value, self._numbers)
        if outcome is None:
            outcome = value
            for number in self._numbers.listed():
                outcome = APPLY[operation](outcome, number)
        return outcome


def _reflected(operation: int) -> Callable[[Operands, Any], Any]:
    return lambda operands, value: operands.combined(operation, value)


for _sign in ("add", "sub", "mul"):  # `value + operands` is left to the reflected method of these
    setattr(Operands, f"__r{_sign}__", _reflected(NAMES[f"__{_sign}__"]))
