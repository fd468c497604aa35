"""Stand-ins for containers to whose items iterations add.

``groups[k].append(e)`` and ``groups.setdefault(k, []).append(e)`` are logged under the key, and applied to
the real item.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dlbrt.reductions import operations
from dlbrt.reductions.proxies import ADDING, EXTENDING, Append, LoggingAdder, read_in_turn


class LoggedItem(operations.StandIn):
    """Stands for an item of a container, to which iterations only add."""

    __slots__ = ("_append", "_code", "_key")

    def __init__(self, append: Append, code: int, key: Any) -> None:
        self._append = append
        self._code = code
        self._key = key


class GroupingAdder(LoggingAdder):
    """Stands for a container to whose items iterations add: ``groups[k].append(e)``.

    ``read``, called with a key, raises what reading the item raises; without it, reading may make the item,
    and is logged.
    """

    __slots__ = ("_known", "_read")

    def __init__(self, append: Append, code: int, read: Callable[[Any], Any] | None = None) -> None:
        super().__init__(append, code)
        self._read = read
        self._known: set[Any] = set()

    def __getitem__(self, key: Any) -> LoggedItem:
        if key not in self._known:
            if self._read is not None:
                self._read(key)
            else:
                self._append((self._code + operations.ITEM, key))
            self._known.add(key)
        return LoggedItem(self._append, self._code, key)

    def setdefault(self, key: Any, default: Any = None) -> LoggedItem:
        """The item under a key, which is made where there is none."""
        if key not in self._known:
            self._append((self._code + operations.CALL, "setdefault", (key, default), {}))
            self._known.add(key)
        return LoggedItem(self._append, self._code, key)


def _calling_item(name: str, extends: bool) -> Callable[..., None]:
    def method(self: LoggedItem, *arguments: Any, **named: Any) -> None:
        def log(arguments: tuple[Any, ...], **named: Any) -> None:
            self._append((self._code + operations.ITEM, self._key, name, arguments, named))

        log(read_in_turn(log, arguments) if extends else arguments, **named)

    return method


for _name in ADDING:
    setattr(LoggedItem, _name, _calling_item(_name, _name in EXTENDING))
