"""By which other way an object is reached, for whoever believes that it is reached by its name alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

__all__ = ["reference_path"]

#: So many objects are looked at; beyond them nothing is told.
_MAX_LOOKED_AT = 10_000


def reference_path(name: str, value: Any, names: Mapping[str, Any]) -> str | None:
    """The shortest way to the object from these names, ``name`` apart: ``self.table``, ``rows[3]``.

    Attributes, lists, tuples and dictionaries are looked into; None where nothing is found so.
    """
    waiting = deque((other, held) for other, held in names.items() if other != name)
    seen = {id(value)}
    for _ in range(_MAX_LOOKED_AT):
        if not waiting:
            return None
        text, held = waiting.popleft()
        if held is value:
            return text
        if id(held) not in seen:
            seen.add(id(held))
            waiting.extend(islice(_parts(text, held), _MAX_LOOKED_AT))
    return None


def _parts(text: str, held: Any) -> Iterator[tuple[str, Any]]:
    """What an object holds, and how it is written."""
    if type(held) in (list, tuple):
        yield from ((f"{text}[{place}]", part) for place, part in enumerate(held))
    elif type(held) is dict:
        keys = ((key, part) for key, part in held.items() if type(key) in (str, int))
        yield from ((f"{text}[{key!r}]", part) for key, part in keys)
    elif not isinstance(held, type):
        attributes = getattr(held, "__dict__", None)
        if type(attributes) is dict:
            yield from ((f"{text}.{key}", part) for key, part in attributes.items())
