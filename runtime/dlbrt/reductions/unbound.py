"""Names without a value, which are no error unless an iteration reads them.

A kernel deletes such a parameter, so that reading it fails in the iteration that does. What iterations
contribute to is bound anew before each run; there the stand-in itself fails where it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import CodeType
from typing import Any, NoReturn

from dlbrt.reductions.operations import NAMES, StandIn

_LOCAL = "cannot access local variable {!r} where it is not associated with a value"
_FREE = "cannot access free variable {!r} where it is not associated with a value in enclosing scope"


class Unbound(StandIn):
    """Stands for the value of ``name``; any use raises a ``kind`` with ``message``, as the program does."""

    __slots__ = ("kind", "message", "name")

    def __init__(self, name: str, kind: type[NameError], message: str) -> None:
        self.name = name
        self.kind = kind
        self.message = message

    def __reduce__(self) -> tuple[Any, ...]:
        return Unbound, (self.name, self.kind, self.message)

    def error(self) -> NameError:
        """What reading the name raises in the program."""
        if self.kind is UnboundLocalError:
            return UnboundLocalError(self.message)
        return NameError(self.message, name=self.name)

    def raised_as(self, error: BaseException) -> bool:
        """Whether ``error`` is what reading the name raises in a kernel, of which it is a local variable."""
        texts = {_LOCAL.format(self.name)}
        if self.message not in (_LOCAL.format(self.name), _FREE.format(self.name)):  # of the module
            texts.add(_FREE.format(self.name))
        return isinstance(error, NameError) and str(error) in texts

    def _misused(self, *_: object) -> NoReturn:
        raise self.error()


def is_unbound(value: Any) -> bool:
    """Whether a kernel's argument stands for no value."""
    return isinstance(value, Unbound)


for _name in NAMES:
    setattr(Unbound, _name, Unbound._misused)


def value_or_unbound(read: Callable[[], Any], reader: CodeType) -> Any:
    """What ``read``, a function of the program's function ``reader``, returns; `Unbound` for no value."""
    try:
        return read()
    except NameError as error:
        code: CodeType = read.__code__
        name = (*code.co_freevars, *code.co_names)[0]
        if name in reader.co_cellvars:
            return Unbound(name, UnboundLocalError, _LOCAL.format(name))
        return Unbound(name, NameError, str(error))


def as_in_program(error: BaseException, arguments: Iterable[Any]) -> BaseException:
    """The exception of a kernel as the program raises it, which may read a name of the module there."""
    for each in arguments:
        if isinstance(each, Unbound) and each.kind is not type(error) and each.raised_as(error):
            found = each.error().with_traceback(error.__traceback__)
            found.__cause__, found.__context__ = error.__cause__, error.__context__
            found.__suppress_context__ = error.__suppress_context__
            return found
    return error
