"""What differs between two runs of a program, the first of each kind.

Arrays are compared bit by bit, so -0.0 and 0.0 differ, and so do two NaNs of other bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dlbc.commands.verify.snapshot import (
    ARRAY,
    FIELDS,
    ITEMS,
    LEAF,
    MEMBERS,
    OPAQUE,
    OPEN,
    PAIRS,
    SAME,
    Node,
)

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

#: Characters of a value or a line that are shown.
_SHOWN = 120
#: A path and what leads there: of an element of an array its indices.
Place = tuple[str, tuple[int, ...] | None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run: ``status`` None: the time was up, and ``stacks`` show where; ``end`` None: no end was seen.

    ``end`` has the ``exception`` (type and message, or None) and the descriptions of the ``names``; arrays
    are in ``directory``. A file has no content if the run did not write it. ``seconds`` is how long it took.
    """

    directory: Path
    stdout: bytes
    stderr: str
    status: int | None
    seconds: float
    stacks: str
    end: dict[str, Any] | None
    files: dict[str, bytes | None]


@dataclass(frozen=True, slots=True)
class Unsteady:
    """What two sequential runs do not have in common, and so is not compared: lines, names, files."""

    lines: frozenset[int] = frozenset()
    names: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Difference:
    """``what`` differs, with the values of the sequential and of the parallel run.

    Of an element of an array, ``array`` is its name and ``index`` its place.
    """

    what: str
    expected: str
    found: str
    array: str = ""
    index: tuple[int, ...] = ()

    def __str__(self) -> str:
        return f"{self.what}: {_shortened(self.expected)} sequentially, {_shortened(self.found)} in parallel"


class UnsteadyError(Exception):
    """The sequential program does not repeat itself, in a way that leaves nothing to compare."""


def unsteady(first: Outcome, second: Outcome) -> Unsteady:
    """What differs between two sequential runs. UnsteadyError if they do not even end alike."""
    for what, one, other in (
        ("exit status", first.status, second.status),
        ("exception", _exception(first), _exception(second)),
        ("number of lines of output", len(_lines(first)), len(_lines(second))),
    ):
        if one != other:
            raise UnsteadyError(f"two sequential runs differ in their {what}: {one} and {other}")
    lines = {
        k for k, pair in enumerate(zip(_lines(first), _lines(second), strict=True)) if pair[0] != pair[1]
    }
    names = {name for name in _names(first) if _value_difference(name, first, second) is not None}
    files = {name for name, content in first.files.items() if content != second.files[name]}
    return Unsteady(frozenset(lines), frozenset(names), frozenset(files))


def differences(
    expected: Outcome, found: Outcome, ignored: Unsteady, unbound: frozenset[str]
) -> list[Difference]:
    """The first difference of each kind; ``unbound`` are names that a parallel run need not leave.

    A run whose time was up differs by that alone. Values are compared where both runs complete:
    after an exception, elements of iterations behind the failing one may have been stored. Where the program
    has caught it, these elements alone are not compared (`dlbc.commands.verify.open_elements`).
    """
    if found.status is None:
        return [Difference("end", f"status {expected.status}", f"none after {found.seconds:.0f} s")]
    endings = [
        _ending_difference("exception", _exception(expected), _exception(found)),
        _ending_difference("exit status", expected.status, found.status),
    ]
    completes = not any(endings) and _completes(expected)
    value = _first_value(expected, found, ignored.names | unbound) if completes else None
    kinds = [_output_difference(expected, found, ignored), *endings, value]
    kinds.append(_file_difference(expected, found, ignored))
    return [difference for difference in kinds if difference is not None]


def _exception(outcome: Outcome) -> str:
    if outcome.end is None:
        return "no end of the program was seen"
    ended_by = outcome.end["exception"]
    return "none" if ended_by is None else f"{ended_by[0]}: {ended_by[1]}"


def _completes(outcome: Outcome) -> bool:
    """Whether the program reached its end, or called for it."""
    return outcome.end is not None and (outcome.end["exception"] or ["SystemExit"])[0] == "SystemExit"


def _lines(outcome: Outcome) -> list[bytes]:
    return outcome.stdout.split(b"\n")


def _names(outcome: Outcome) -> dict[str, Node]:
    names: dict[str, Node] = outcome.end["names"] if outcome.end else {}
    return names


def _ending_difference(what: str, expected: object, found: object) -> Difference | None:
    return None if expected == found else Difference(what, str(expected), str(found))


def _output_difference(expected: Outcome, found: Outcome, ignored: Unsteady) -> Difference | None:
    ours, theirs = _lines(expected), _lines(found)
    for k in range(max(len(ours), len(theirs))):
        pair = [lines[k] if k < len(lines) else None for lines in (ours, theirs)]
        if pair[0] != pair[1] and not (k in ignored.lines and None not in pair):
            return Difference(f"line {k + 1} of standard output", _line(pair[0]), _line(pair[1]))
    return None


def _line(line: bytes | None) -> str:
    return "no such line" if line is None else repr(line.decode(errors="replace"))


def _file_difference(expected: Outcome, found: Outcome, ignored: Unsteady) -> Difference | None:
    for name, content in expected.files.items():
        other = found.files[name]
        if content == other or name in ignored.files:
            continue
        if content is None or other is None:
            states = ["not written" if each is None else "written" for each in (content, other)]
            return Difference(f"file {name}", states[0], states[1])
        place = next(
            (k for k, pair in enumerate(zip(content, other, strict=False)) if pair[0] != pair[1]), None
        )
        if place is None:
            return Difference(f"length of file {name}", f"{len(content)} bytes", f"{len(other)} bytes")
        around = slice(max(0, place - 20), place + 20)
        return Difference(f"byte {place} of file {name}", repr(content[around]), repr(other[around]))
    return None


# Values


def _first_value(expected: Outcome, found: Outcome, ignored: frozenset[str]) -> Difference | None:
    """The first name, in the order in which the sequential program bound them, whose value differs."""
    for name in _names(expected):
        if name not in ignored and (difference := _value_difference(name, expected, found)):
            return difference
    return None


def _value_difference(name: str, expected: Outcome, found: Outcome) -> Difference | None:
    if found.end is None or expected.end is None:
        return None
    other = _names(found).get(name)
    if other is None:
        return Difference(f"name {name}", "bound", "not bound")
    return next(
        _Comparison(expected.directory, found.directory).nodes(name, _names(expected)[name], other), None
    )


#: Kinds of values whose content is a list of named parts.
_PARTS: Final = (ITEMS, PAIRS, FIELDS)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Compares descriptions; arrays are in the directories of the runs."""

    ours: Path
    theirs: Path

    def nodes(self, path: str, one: Node, other: Node) -> Iterator[Difference]:
        """The differences of two values, in order."""
        kind, content = one[0], one[2]
        if other[0] == OPEN:
            return
        if one[:2] != other[:2]:
            yield Difference(path, _words(one), _words(other))
        elif kind in (LEAF, OPAQUE, SAME, MEMBERS):
            if content != other[2]:
                yield Difference(path, _words(one), _words(other))
        elif kind == ARRAY:
            for ours, theirs in zip(content, other[2], strict=True):
                yield from self._arrays(path, ours, theirs, *other[3:])
        elif kind in _PARTS:
            if len(content) != len(other[2]):
                yield Difference(f"length of {path}", str(len(content)), str(len(other[2])))
            for k, pair in enumerate(zip(content, other[2], strict=False)):
                yield from self._part(path, kind, k, *pair)

    def _part(self, path: str, kind: str, k: int, one: Any, other: Any) -> Iterator[Difference]:
        if kind == ITEMS:
            yield from self.nodes(f"{path}[{k}]", one, other)
        elif kind == FIELDS:
            yield from _names_differ(f"attribute {k} of {path}", one[0], other[0])
            yield from self.nodes(f"{path}.{one[0]}", one[1], other[1])
        else:
            yield from self.nodes(f"key {k} of {path}", one[1], other[1])
            yield from self.nodes(f"{path}[{one[0]}]", one[2], other[2])

    def _arrays(self, path: str, ours: str, theirs: str, opened: str = "") -> Iterator[Difference]:
        """The first difference of two arrays, but for what is ``opened`` in the parallel run."""
        import numpy as np

        one, other = np.load(self.ours / ours, mmap_mode=None), np.load(self.theirs / theirs, mmap_mode=None)
        for what in ("dtype", "shape"):
            if getattr(one, what) != getattr(other, what):
                yield Difference(f"{what} of {path}", str(getattr(one, what)), str(getattr(other, what)))
                return
        differs = _changed(one, other)
        changed = np.flatnonzero(differs & ~np.load(self.theirs / opened) if opened else differs)
        if changed.size:
            index = tuple(map(int, np.unravel_index(int(changed[0]), one.shape)))
            element = f"{path}[{', '.join(map(str, index))}]" if index else path
            more = f" (and {changed.size - 1} more elements)" if changed.size > 1 else ""
            texts = [str(x[index]) for x in (one, other)]
            if texts[0] == texts[1]:  # NaNs, or numbers whose text is rounded
                texts = [f"{x[index]} (bytes {x[index].tobytes().hex()})" for x in (one, other)]
            yield Difference(f"{element}{more}", texts[0], texts[1], path, index)


def _names_differ(what: str, one: str, other: str) -> Iterator[Difference]:
    if one != other:
        yield Difference(what, one, other)


def _changed(one: Array, other: Array) -> Array:
    """Which elements of two arrays of one type and shape differ in their bits; padding does not count."""
    import numpy as np

    if one.dtype.names:
        parts = (_changed(one[name], other[name]) for name in one.dtype.names)
        changed = np.zeros(one.shape, bool)
        for part in parts:
            changed |= part.reshape(*one.shape, -1).any(axis=-1)
        return changed
    if one.dtype.char in "gG":  # their bytes hold padding
        same = (one == other) & (np.signbit(one.real) == np.signbit(other.real))
        return ~np.asarray(
            same & (np.signbit(one.imag) == np.signbit(other.imag)) | (np.isnan(one) & np.isnan(other))
        )
    if not one.size or not one.dtype.itemsize:
        return np.zeros(one.shape, bool)
    ours, theirs = (
        np.ascontiguousarray(x).reshape(-1).view(np.uint8).reshape(x.size, -1) for x in (one, other)
    )
    return np.asarray((ours != theirs).any(axis=1)).reshape(one.shape)


def _words(node: Node) -> str:
    """A value in words."""
    kind, type_name, content = node
    if kind == LEAF:
        return str(content) if content.startswith("np.") else f"{content} ({type_name})"
    if kind == SAME:
        return f"the object {content}"
    if kind == MEMBERS:
        return f"{{{', '.join(_words(member) for member in content)}}}"
    return f"a value of type {type_name}"


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def unsteady_words(found: Unsteady) -> Iterable[str]:
    """What is not compared, as phrases."""
    groups: Sequence[tuple[str, Iterable[str]]] = (
        ("line", (str(k + 1) for k in sorted(found.lines))),
        ("name", sorted(name for name in found.names if not name.endswith(")"))),
        ("file", sorted(found.files)),
    )
    for what, values in groups:
        if some := list(values):
            shown = ", ".join(some[:8]) + (f" and {len(some) - 8} more" if len(some) > 8 else "")
            yield f"{what}{'s' * (len(some) > 1)} {shown}" + (" of standard output" if what == "line" else "")
