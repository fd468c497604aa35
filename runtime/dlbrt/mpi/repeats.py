"""Calls that are as an earlier one but for number and body: most runs of a loop differ in nothing else.

Rank 0 and the others keep the same calls in the same order, by the same rule, so that a repetition is told by
where the earlier one stands. Calls that change what else ranks know (a kernel, the interpreter's state,
memory to be forgotten) are never kept.
"""

from __future__ import annotations

from dataclasses import fields, replace
from operator import attrgetter
from typing import Any

from dlbrt.mpi.call import LoopCall
from dlbrt.records import dataclass

__all__ = ["CallCache", "RepeatedCall"]

#: Calls kept of a loop: arrays that change places make a few that take turns.
_MAX_CALLS = 8

_repeated_fields = attrgetter(
    *(each.name for each in fields(LoopCall) if each.name not in ("serial", "body"))
)


@dataclass(frozen=True, slots=True)
class RepeatedCall:
    """The call number ``serial`` is as the one kept of the loop ``key`` at ``place``, but for its body."""

    serial: int
    body: bytes | None
    key: str
    place: int


class CallCache:
    """The calls that one rank has kept."""

    def __init__(self) -> None:
        self._calls: dict[str, list[tuple[LoopCall, tuple[Any, ...]]]] = {}

    def shortened(self, call: LoopCall) -> LoopCall | RepeatedCall:
        """The call as it is sent: short, where the others know one that is the same. It is kept."""
        same = _repeated_fields(call)
        for place, (_, earlier) in enumerate(self._calls.get(call.key, ())):
            if earlier == same:
                return RepeatedCall(call.serial, call.body, call.key, place)
        self._keep(call, same)
        return call

    def restored(self, message: LoopCall | RepeatedCall) -> LoopCall:
        """The call that a message stands for. It is kept."""
        if isinstance(message, RepeatedCall):
            earlier, _ = self._calls[message.key][message.place]
            return replace(earlier, serial=message.serial, body=message.body)
        self._keep(message, ())
        return message

    def _keep(self, call: LoopCall, same: tuple[Any, ...]) -> None:
        changes = (call.kernel, call.environment, call.settings, call.dropped or None)
        if any(each is not None for each in changes):
            return
        kept = self._calls.setdefault(call.key, [])
        if len(kept) == _MAX_CALLS:
            kept.clear()
        kept.append((call, same))
