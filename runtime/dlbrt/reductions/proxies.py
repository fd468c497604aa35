"""Stand-ins for what iterations contribute to: names that they update, containers that they change.

A stand-in for a name logs operands instead of computing. For ``s += e``, ``s = s + e``, ``s = e + s`` and
``s = max(s, e)`` it appends (operation, operand) to the log and returns itself, and the name is bound to it
again. A stand-in for a container logs updates of its elements, or calls that add to it.
"""

from __future__ import annotations

import functools
import io
from array import array
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any

import numpy as np

from dlbrt.reductions import operations
from dlbrt.reductions.numbers import Operands
from dlbrt.reductions.operations import PLAIN_KEYS, read_out

#: Methods that add to a container; those among them that are given an iterable, which is read out.
ADDING = ("append", "appendleft", "add", "insert", "extend", "extendleft", "setdefault", "update")
EXTENDING = frozenset({"extend", "extendleft", "update"})

Append = Callable[[tuple[Any, ...]], None]

#: Types whose values, except NaN, are totally ordered among themselves.
_ORDERED = frozenset({int, float, str, bytes, np.float64, np.float32, np.int64, np.int32})


class LoggingAccumulator(operations.StandIn):
    """Stands for a number, text, list, set or array to which operands are added, multiplied, ..."""

    __slots__ = ("_append", "_code", "_plain", "_refused")

    def __init__(
        self, append: Append, code: int, types: operations.OperandTypes = operations.ANY_OPERANDS
    ) -> None:
        self._append = append
        self._code = code
        self._plain, self._refused = types.plain, types.refused


class LoggingExtremum(operations.StandIn):
    """Stands for a maximum or minimum.

    ``max`` and ``min`` compare; the comparison logs the value, and its outcome makes them return the
    stand-in. A value that does not beat one logged before it in the same run cannot change the result and is
    dropped.

    The side of the comparison shows the spelling: ``max(s, e)`` evaluates ``e > s``, ``max(e, s)`` evaluates
    ``s > e``. They differ for equal values and for NaN: ``max(s, e)`` keeps an s that is NaN for good,
    ``max(e, s)`` never does, so it drops values only once s is known to be a number. Where iterations of
    other ranks may lie between (not ``stretch``), any of them may have made s NaN and then another number, so
    nothing is dropped.
    """

    __slots__ = ("_append", "_best", "_code", "_kind", "_max", "_refused", "_stretch", "_sure")

    def __init__(
        self,
        append: Append,
        code: int,
        sign: str,
        stretch: bool = True,
        types: operations.OperandTypes = operations.ANY_OPERANDS,
    ) -> None:
        self._refused = types.refused
        self._append = append
        self._code = code
        self._max = sign == "max"
        self._stretch = stretch
        self._kind: type | None = None
        self._best: Any = None
        self._sure = False  # whether the value is known to be a number and no worse than the best

    def __lt__(self, value: Any) -> bool:
        if self._max:  # max(s, e): e > s, answered from this side
            if type(value) is not self._kind or value > self._best:
                self._log(operations.MAX, value)
            return False
        if type(value) is not self._kind or not (self._sure and self._best < value):
            self._sure = True  # min(e, s): s < e
            self._log(operations.MIN_REFLECTED, value)
        return True

    def __gt__(self, value: Any) -> bool:
        if not self._max:  # min(s, e): e < s, answered from this side
            if type(value) is not self._kind or value < self._best:
                self._log(operations.MIN, value)
            return False
        if type(value) is not self._kind or not (self._sure and self._best > value):
            self._sure = True  # max(e, s): s > e
            self._log(operations.MAX_REFLECTED, value)
        return True

    def _log(self, operation: int, value: Any) -> None:
        if self._stretch and type(value) in _ORDERED and value == value:
            self._kind, self._best = type(value), value
        else:
            if type(value) in self._refused:
                raise operations.RefusedOperandError((self._code + operation, value))
            self._kind = None
            self._sure = False
            operations.known(value)
        self._append((self._code + operation, value))


_new = object.__new__


class LoggedElement(operations.StandIn):
    """Stands for the element under a key, from its being read to its being stored."""

    __slots__ = ("_key", "_operand", "_operation", "_sign")
    _key: Any
    _operand: Any
    _operation: int
    _sign: str

    def _then(self, operation: int, operand: Any) -> None:
        """Add an operation."""
        if type(operand) not in operations.IMMUTABLE:
            operand = (
                operations.known(operand)
                if operation >= operations.MAX
                else operations.kept(operand, self._sign)
            )
        if self._operation < 0:
            self._operation, self._operand = operation, operand
        elif self._operation == operations.CHAIN:
            self._operand.append((operation, operand))
        else:
            self._operand = [(self._operation, self._operand), (operation, operand)]
            self._operation = operations.CHAIN

    def __bool__(self) -> bool:
        """Make ``hist[k] and e`` and ``hist[k] or e`` evaluate to e, which is then stored."""
        if self._sign not in ("and", "or"):
            self._misused()
        return self._sign == "and"

    def __lt__(self, value: Any) -> bool:
        largest = self._sign == "max"
        self._then(operations.MAX if largest else operations.MIN_REFLECTED, value)
        return not largest

    def __gt__(self, value: Any) -> bool:
        largest = self._sign == "max"
        self._then(operations.MAX_REFLECTED if largest else operations.MIN, value)
        return largest


class _Defaulted(LoggedElement):
    """The same for an element read by ``get`` with a default."""

    __slots__ = ("_default",)
    _default: Any


def _noting(operation: int) -> Any:
    def method(self: LoggedElement, operand: Any) -> LoggedElement:
        if self._operation < 0 and type(operand) in operations.IMMUTABLE:
            self._operation, self._operand = operation, operand
        else:
            self._then(operation, operand)
        return self

    return method


for _name, _number in operations.NAMES.items():
    setattr(LoggedElement, _name, _noting(_number))


class LoggingContainer(operations.StandIn):
    """Stands for an array, list or dictionary whose elements are updated.

    ``read``, called with a key, raises what reading the element raises.
    """

    __slots__ = ("_append", "_code", "_read", "_sign")
    _plain, _refused = operations.IMMUTABLE, frozenset[type]()

    def __init__(
        self, append: Append, code: int, sign: str, read: Callable[[Any], Any] | None = None
    ) -> None:
        self._append = append
        self._code = code
        self._sign = sign
        self._read = read

    def __getitem__(self, key: Any) -> LoggedElement:
        if self._read is not None:
            self._read(key)
        element = _new(LoggedElement)
        element._key, element._operation, element._sign = key, -1, self._sign
        return element

    def get(self, key: Any, default: Any = None) -> LoggedElement:
        """The element under a key with a default, as of a dictionary."""
        element = _new(_Defaulted)
        element._key, element._operation, element._sign = key, -1, self._sign
        element._default = default if type(default) in operations.IMMUTABLE else operations.kept(default)
        return element

    def __setitem__(self, key: Any, value: Any) -> None:
        if type(key) not in operations.IMMUTABLE:
            key = operations.kept_key(key)
        if type(value) is LoggedElement and (value._key is key or _same(value._key, key)):
            if value._operation >= 0:
                self._append((self._code + value._operation, key, value._operand))
        elif type(value) is _Defaulted and (value._key is key or _same(value._key, key)):
            if value._operation >= 0:
                self._append((self._code + value._operation, key, value._operand, value._default))
        elif self._sign in ("and", "or") and not isinstance(value, operations.StandIn):
            self._append((self._code + operations.boolean(self._sign), key, operations.known(value)))
        else:
            raise operations.MisuseError(
                "an element that iterations contribute to is stored to in another way"
            )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        """Log ``np.add.at(hist, k, e)`` and ``np.add(acc, e, out=acc)``; leave operators to this class."""
        if method == "__call__" and list(named) == ["out"] and named["out"][0] is self:
            return self._updated(ufunc, *inputs)
        if method == "__call__" and len(inputs) == 2 and inputs[1] is self:
            return NotImplemented
        if method != "at" or inputs[0] is not self or named:
            self._misused()
        if self._read is not None:
            self._read(inputs[1])
        self._append(
            (
                self._code + operations.AT,
                ufunc,
                (operations.kept_key(inputs[1]), *map(operations.kept, inputs[2:])),
            )
        )
        return None

    def _updated(self, ufunc: Any, one: Any, other: Any) -> LoggingContainer:
        first = one is self
        self._append((self._code + operations.OUT, ufunc, operations.kept(other if first else one), first))
        return self


def _same(one: Any, other: Any) -> bool:
    """Whether the element was read under the same key."""
    try:
        return bool(one == other) or one is other
    except ValueError:  # arrays
        return True


class LoggingAdder(operations.StandIn):
    """Stands for a container that iterations only add to: a list, a deque, or one of an unknown type."""

    __slots__ = ("_append", "_code")
    _plain, _refused = operations.IMMUTABLE, frozenset[type]()

    def __init__(self, append: Append, code: int) -> None:
        self._append = append
        self._code = code

    def __setitem__(self, key: Any, value: Any) -> None:
        if type(key) not in operations.IMMUTABLE:
            key = operations.kept_key(key)
            if type(key) is slice:  # the operand of a slice assignment is read out
                value = list(value)
        self._append((self._code + operations.STORE, key, value))


class CopyingAdder(LoggingAdder):
    """Stands for an array, which stores the contents of values, not the objects."""

    __slots__ = ()

    def __setitem__(self, key: Any, value: Any) -> None:
        if type(key) not in operations.IMMUTABLE:
            key = operations.kept_key(key)
        if type(value) not in operations.IMMUTABLE:
            value = operations.kept(value)
        self._append((self._code + operations.STORE, key, value))


class BytesAdder(CopyingAdder):
    """Stands for a `bytearray`, which is not extended by an iterable that fails half-way."""

    __slots__ = ()

    def extend(self, items: Any) -> None:
        """Add all items."""
        super().extend(items if isinstance(items, bytes) else list(items))  # type: ignore[misc]  # set below


class HashingAdder(LoggingAdder):
    """Stands for a dictionary or a set: adding an object without a hash fails at once."""

    __slots__ = ()

    def __setitem__(self, key: Any, value: Any) -> None:
        hash(key)
        self._append((self._code + operations.STORE, key, value))

    def add(self, item: Any) -> None:
        """Add an item, as to a set."""
        hash(item)
        self._append((self._code + operations.CALL, "add", (item,), {}))


class CountingAdder(HashingAdder):
    """Stands for a `Counter` of whole numbers: what a run counts is logged once, with the keys in order.

    So it is as long as the keys are plain values, whose hashes and comparisons run nothing of the program.
    Whatever else is added goes to ``append`` as it is made, which first has the counts logged (`end_run`), to
    ``log``.
    """

    __slots__ = ("_counts", "_log")

    def __init__(self, append: Append, code: int, log: Append) -> None:
        super().__init__(append, code)
        self._log = log
        self._counts: Counter[Any] = Counter()

    def update(self, *arguments: Any, **named: Any) -> None:
        """Count the items of an iterable, or add whatever else a `Counter` is updated by."""
        if not named and len(arguments) == 1 and not isinstance(arguments[0], Mapping):
            items = arguments[0]
            self._count(items if type(items) is list else read_out(items, self._count))
        else:
            _update(self, *arguments, **named)

    def _count(self, items: Any) -> None:
        if _are_keys(items):
            self._counts.update(items)
        else:
            _update(self, items)

    def end_run(self) -> None:
        """Log what was counted since the last entry."""
        if self._counts:
            self._log((self._code + operations.SHARE, tuple(self._counts.items())))
            self._counts = Counter()


def _are_keys(items: Any) -> bool:
    """Whether these are items that can be counted on any rank: plain values, and tuples of them."""
    if type(items) is str:
        return True
    if type(items) is not list:
        return False
    kinds = set(map(type, items)) - PLAIN_KEYS
    if kinds == {tuple}:
        return PLAIN_KEYS.issuperset(map(type, chain.from_iterable(i for i in items if type(i) is tuple)))
    return not kinds


class WritingAdder(LoggingAdder):
    """Stands for a text in memory, to which iterations write, `print` among them."""

    __slots__ = ()

    def write(self, text: str) -> int:
        """Add the text; TypeError for anything else."""
        if not isinstance(text, str):
            raise TypeError(f"string argument expected, got {type(text).__name__!r}")
        self._append((self._code + operations.CALL, "write", (text,), {}))
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Add all lines."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """There is nothing to write out."""


#: Types of containers that hash what they hold.
_HASHING = frozenset({dict, defaultdict, Counter, OrderedDict, set})


def adder(real: Any) -> type[LoggingAdder]:
    """The type of stand-in for a container."""
    if type(real) is Counter and set(map(type, real.values())) <= {int}:
        return CountingAdder
    if type(real) in _HASHING:
        return HashingAdder
    if type(real) is io.StringIO:
        return WritingAdder
    if isinstance(real, bytearray):
        return BytesAdder
    contents = isinstance(real, np.ndarray) and not real.dtype.hasobject
    return CopyingAdder if contents or isinstance(real, array) else LoggingAdder


def _operating(operation: int, sign: str) -> Any:
    def method(self: Any, operand: Any) -> Any:
        if type(operand) in self._plain:  # nearly all operands are: nothing is called but what has to be
            self._append((self._code + operation, operand))
            return self
        if type(operand) is Operands:
            operand.log(self._code + operation)
            return self
        if type(operand) in self._refused:
            raise operations.RefusedOperandError((self._code + operation, operand))
        partly = functools.partial(_log_operand, self, operation)
        _log_operand(self, operation, operations.kept(operand, sign, partly))
        return self

    return method


def _log_operand(stand_in: Any, operation: int, operand: Any) -> None:
    stand_in._append((stand_in._code + operation, operand))


def read_in_turn(log: Callable[[tuple[Any, ...]], None], arguments: Iterable[Any]) -> tuple[Any, ...]:
    """The arguments by which a container is extended, read out.

    If one fails half-way, those before it and what it has given are logged: the container has taken them.
    """
    found: list[Any] = []
    for argument in arguments:
        found.append(read_out(argument, lambda given: log((*found, given))))
    return tuple(found)


#: The keyword arguments of calls without any: one object, which is pickled once.
_UNNAMED: Mapping[str, Any] = {}


def _calling(name: str, extends: bool) -> Callable[..., None]:
    def method(self: LoggingAdder, *arguments: Any, **named: Any) -> None:
        self._append((self._code + operations.CALL, name, arguments, named or _UNNAMED))

    def extending(self: LoggingAdder, *arguments: Any, **named: Any) -> None:
        method(self, *read_in_turn(lambda given: method(self, *given), arguments), **named)

    return extending if extends else method


for _name, _number in operations.NAMES.items():
    _method = _operating(_number, "+" if _number < 3 else "")
    setattr(LoggingAccumulator, _name, _method)
    if _number % 3 == 1:  # `acc += row` changes all elements of an array in place
        setattr(LoggingContainer, _name, _method)
    if _name in ("__iadd__", "__ior__"):
        setattr(LoggingAdder, _name, _method)


for _name in ADDING:
    setattr(LoggingAdder, _name, _calling(_name, _name in EXTENDING))

_update = _calling("update", extends=True)
