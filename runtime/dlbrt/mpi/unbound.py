"""Names without a value where a loop is met: a loop that has no iteration need not miss them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dlbrt.records import dataclass

__all__ = ["Unbound", "check_bound", "value_or_unbound"]


@dataclass(frozen=True, slots=True)
class Unbound:
    """Stands for the value of such a name; ``error`` is what reading it raised."""

    error: NameError


def value_or_unbound(read: Callable[[], Any]) -> Any:
    """What ``read`` gives, or an `Unbound` where its name has no value."""
    try:
        return read()
    except NameError as error:
        return Unbound(error)


def check_bound(arguments: Iterable[Any]) -> None:
    """Raise what the first iteration meets with where a name has no value."""
    for argument in arguments:
        if isinstance(argument, Unbound):
            raise _as_in_the_program(argument.error)


def _as_in_the_program(error: NameError) -> NameError:
    """A local variable of the program is a free one of the function that reads it here."""
    if "free variable" not in str(error):
        return error.with_traceback(None)
    return UnboundLocalError(
        f"cannot access local variable {error.name!r} where it is not associated with a value"
    )
