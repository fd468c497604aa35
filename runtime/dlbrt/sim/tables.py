"""Tables as TOML gives them, read with care: all that is wrong is kept, each with the path of its key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from dlbrt.contract import nearest
from dlbrt.records import dataclass

__all__ = ["TomlTable", "count", "number", "text"]

_T = TypeVar("_T")

#: Characters of a value that are shown.
_WIDEST = 40


@dataclass(frozen=True, slots=True)
class TomlTable:
    """A table at ``path``, empty for the outermost; what is wrong in it is added to ``errors``."""

    path: str
    found: Mapping[str, Any]
    errors: list[str]

    def knows(self, *keys: str) -> None:
        """Complain of all other keys."""
        for key in self.found:
            if key not in keys:
                expected = f"expected one of {', '.join(keys)}{nearest(key, keys)}"
                self.errors.append(f"{self.at(key)}: unknown key; {expected}")

    def take(self, key: str, expected: str, read: Callable[[Any], _T | None]) -> _T | None:
        """The value of a key as ``read`` has it; None where there is none, or it is not as expected."""
        if key not in self.found:
            return None
        value = read(self.found[key])
        if value is None:
            self.wrong(key, expected)
        return value

    def needs(self, key: str, expected: str, read: Callable[[Any], _T | None]) -> _T | None:
        """The same; a key that is not there is wrong as well."""
        if key not in self.found:
            self.errors.append(f"{self.at(key)}: expected {expected}; found nothing")
        return self.take(key, expected, read)

    def wrong(self, key: str, expected: str) -> None:
        """Say what was expected of a key."""
        self._error(self.at(key), expected, self.found[key])

    def listed(self, key: str, expected: str, read: Callable[[Any], _T | None]) -> tuple[_T, ...] | None:
        """The values of a list as ``read`` has them; None where one is not as expected: the first is told."""
        found: list[_T] = []
        for place, given in enumerate(self.found[key]):
            if (value := read(given)) is None:
                self._error(f"{self.at(key)}[{place}]", expected, given)
                return None
            found.append(value)
        return tuple(found)

    def inner(self, key: str) -> TomlTable | None:
        """The table that a key is, if it is there."""
        found = self.take(key, "a table", lambda value: value if isinstance(value, dict) else None)
        return None if found is None else TomlTable(self.at(key), found, self.errors)

    def each(self, key: str) -> list[TomlTable]:
        """The tables of an array of tables."""
        found = self.take(key, f"tables, each under [[{self.at(key)}]]", _tables) or []
        return [
            TomlTable(f"{self.at(key)}[{place}]", table, self.errors) for place, table in enumerate(found)
        ]

    def at(self, key: str) -> str:
        """The path of a key."""
        return f"{self.path}.{key}" if self.path else key

    def _error(self, path: str, expected: str, found: object) -> None:
        shown = repr(found)
        shown = shown if len(shown) <= _WIDEST else shown[: _WIDEST - 2] + ".."
        self.errors.append(f"{path}: expected {expected}; found {shown}")


def text(value: Any) -> str | None:
    """A text that is not blank."""
    return value if isinstance(value, str) and value.strip() else None


def count(least: int, most: int) -> Callable[[Any], int | None]:
    """Whole numbers from ``least`` to ``most``."""
    return lambda value: value if type(value) is int and least <= value <= most else None


def number(least: float, most: float) -> Callable[[Any], float | None]:
    """Numbers from ``least`` to ``most``."""

    def read(value: Any) -> float | None:
        return float(value) if type(value) in (int, float) and least <= value <= most else None

    return read


def _tables(value: Any) -> list[dict[str, Any]] | None:
    made = isinstance(value, list) and value and all(isinstance(each, dict) for each in value)
    return value if made else None
