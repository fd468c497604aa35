"""The journal of one rank: what iterations do besides storing to rows, in the order of execution.

An entry is a tuple whose first item is its code: target and operation. Writers append to ``log``. Marks,
which are lengths of the log, show where an iteration's entries begin. In a loop that declares contributions
the iterator that yields the iterations marks each of them (`marked`); in other loops, where only output is
logged, its writer marks the iteration (`note`).

Within a segment positions ascend, so a segment is what one rank did on its way up; a rank that receives lower
positions later begins another one. Segments are bounded in length, so that they can be sent, held and applied
one after the other. A folded loop climbs from its lower end and descends from its upper end in turns. The
entries of either side are collected separately, so that segments stay long and those of different ranks
hardly overlap.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, chain, pairwise
from typing import IO, Any, Protocol, TypeAlias

import numpy as np

from dlbrt.records import dataclass
from dlbrt.reductions.numbers import Numbers

PositionArray = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class NumericEntries:
    """Entries that are all (code, number): at each position one for each of ``codes``, in this order.

    Of one code there may be several at a position.
    """

    codes: tuple[int, ...]
    columns: tuple[Numbers, ...]

    def __len__(self) -> int:
        return len(self.codes) * len(self.columns[0])

    def __getitem__(self, part: slice) -> NumericEntries:
        begin, end = (each // len(self.codes) for each in (part.start, part.stop))
        return NumericEntries(self.codes, tuple(each[begin:end] for each in self.columns))

    @property
    def form(self) -> tuple[Any, ...]:
        """What entries that can be put together have in common."""
        return self.codes, *(each.kind for each in self.columns)

    def listed(self) -> list[tuple[Any, ...]]:
        """The entries one by one."""
        rows = zip(*(each.listed() for each in self.columns), strict=True)
        return [entry for row in rows for entry in zip(self.codes, row, strict=True)]


def put_together(parts: Sequence[NumericEntries]) -> NumericEntries:
    """Entries of one form after each other."""
    columns = zip(*(each.columns for each in parts), strict=True)
    joined = (Numbers(c[0].kind, np.concatenate([each.values for each in c])) for c in columns)
    return NumericEntries(parts[0].codes, tuple(joined))


@dataclass(frozen=True, slots=True)
class Segment:
    """``entries[starts[k]:starts[k + 1]]``, never empty, belong to ``positions[k]``; positions ascend."""

    positions: PositionArray
    starts: PositionArray
    entries: Sequence[tuple[Any, ...]] | NumericEntries

    def part(self, low: int, high: int) -> Segment:
        """The segment of ``positions[low:high]``."""
        begin = int(self.starts[low]) if low < len(self.starts) else len(self.entries)
        end = int(self.starts[high]) if high < len(self.starts) else len(self.entries)
        return Segment(self.positions[low:high], self.starts[low:high] - begin, self.entries[begin:end])

    def up_to(self, position: int) -> Segment:
        """The segment up to and including ``position``."""
        return self.part(0, int(np.searchsorted(self.positions, position, "right")))

    def position(self, entry: int) -> int:
        """The position that an entry belongs to."""
        return int(self.positions[np.searchsorted(self.starts, entry, "right") - 1])

    def listed(self) -> list[tuple[Any, ...]]:
        """The entries one by one."""
        return self.entries.listed() if isinstance(self.entries, NumericEntries) else list(self.entries)


@dataclass(frozen=True, slots=True)
class Extent:
    """The first and the last position of a segment."""

    first: int
    last: int


def compact(positions: PositionArray, starts: PositionArray, entries: list[tuple[Any, ...]]) -> Segment:
    """The segment; its entries are an array if all have one code and a single number of one type."""
    kept = _as_numbers(entries)
    return Segment(positions, starts, entries if kept is None else kept)


def _as_numbers(entries: list[tuple[Any, ...]]) -> NumericEntries | None:
    code, *operands = entries[0]
    kind = type(operands[0]) if operands else None
    if len(operands) != 1 or kind not in (float, np.float64) or set(map(len, entries)) != {2}:
        return None
    numbers = [number for _, number in entries]
    if {each for each, _ in entries} != {code} or set(map(type, numbers)) != {kind}:
        return None
    return NumericEntries((code,), (Numbers(kind, np.array(numbers)),))


class SegmentStore:
    """Segments as bytes: in memory up to a bound, beyond it in a temporary file."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._held = 0
        self._places: list[bytes | tuple[int, int]] = []
        self._file: IO[bytes] | None = None

    def add(self, data: bytes) -> int:
        """Store a segment; returns its number, from 0. OSError if it cannot be written to the file."""
        if self._held + len(data) <= self._bound:
            self._held += len(data)
            self._places.append(data)
            return len(self._places) - 1
        import tempfile

        self._file = self._file or tempfile.TemporaryFile()  # noqa: SIM115 (see close)
        at = self._file.seek(0, 2)
        self._file.write(data)
        self._places.append((at, len(data)))
        return len(self._places) - 1

    def take(self, number: int) -> bytes:
        """A segment by its number, which is taken once: its memory is free afterwards."""
        place = self._places[number]
        if isinstance(place, bytes):
            self._held -= len(place)
            self._places[number] = b""
            return place
        assert self._file is not None
        self._file.seek(place[0])
        return self._file.read(place[1])

    @property
    def size(self) -> int:
        """The bytes of all segments, taken ones apart."""
        return sum(len(each) if isinstance(each, bytes) else each[1] for each in self._places)

    def take_all(self) -> tuple[bytes, ...]:
        """All segments, by number."""
        return tuple(map(self.take, range(len(self._places))))

    def close(self) -> None:
        """Release everything."""
        self._places.clear()
        if self._file is not None:
            self._file.close()


#: Receives each complete segment of a journal.
Keep = Callable[[Segment], None]

#: Entries of ascending positions: the positions, where those of each begin, the entries.
Piece: TypeAlias = "tuple[array[int], array[int], list[tuple[Any, ...]]]"

#: The same where the entries are numbers.
_NumericPiece: TypeAlias = "tuple[PositionArray, PositionArray, NumericEntries]"


class LiveOutput(Protocol):
    """Takes output out of a journal as iterations are done, to show it while the loop runs."""

    def is_due(self, *, logged: bool) -> bool:
        """Whether the log should be cut; ``logged``: there is something in it."""

    def take(self, piece: Piece, done: range) -> Piece:
        """Iterations ``done`` are, and have logged this; returns what stays in the journal."""

    def finished(self, done: range) -> None:
        """Iterations ``done`` are, and have logged nothing."""


#: Number of entries at which a segment is closed, also within a run.
LONG = 1 << 16

#: Up to this many marks are processed one by one.
_FEW = 16


class _Pile:
    """The runs of a segment to be; each lies above the runs before it, or below them if ``downwards``."""

    def __init__(self, *, downwards: bool) -> None:
        self.length = 0
        self._downwards = downwards
        self._runs: deque[Piece | _NumericPiece] = deque()
        self._form: tuple[Any, ...] | None = None  # of its entries, where they are numbers

    def takes(self, positions: array[int] | PositionArray, form: tuple[Any, ...] | None = None) -> bool:
        """Whether a run at these positions can join the pile; ``form`` is that of its entries."""
        if not self._runs:
            return True
        if form != self._form:
            return False
        if self._downwards:
            return positions[-1] < self._runs[0][0][0]
        return positions[0] > self._runs[-1][0][-1]

    def add(self, piece: Piece | _NumericPiece) -> None:
        """Add a run."""
        entries = piece[2]
        self.length += len(entries)
        self._form = entries.form if isinstance(entries, NumericEntries) else None
        if self._downwards:
            self._runs.appendleft(piece)
        else:
            self._runs.append(piece)

    def segment(self) -> tuple[Extent, Segment] | None:
        """Everything as one segment; the pile is empty afterwards."""
        runs, self.length = [*self._runs], 0
        self._runs.clear()
        if not runs:
            return None
        found = _listed(runs) if self._form is None else _numeric(runs)
        return Extent(int(found.positions[0]), int(found.positions[-1])), found


def _listed(runs: Sequence[Any]) -> Segment:
    return compact(*_places(runs), list(chain.from_iterable(logged for _, _, logged in runs)))


def _numeric(runs: Sequence[Any]) -> Segment:
    return Segment(*_places(runs), put_together([entries for _, _, entries in runs]))


def _places(runs: Sequence[Any]) -> tuple[PositionArray, PositionArray]:
    """The positions of runs, and where the entries of each begin."""
    before = accumulate((len(entries) for _, _, entries in runs), initial=0)
    starts = [np.asarray(begins, np.int64) + held for (_, begins, _), held in zip(runs, before, strict=False)]
    return np.concatenate([np.asarray(places, np.int64) for places, _, _ in runs]), np.concatenate(starts)


class Journal:
    """A rank's log; ``keep`` receives each complete segment, ``extents`` has the extents of all, in order.

    ``live`` takes what can be shown before the loop ends, if there is such output.
    """

    def __init__(self, keep: Keep, long: int = LONG) -> None:
        self.log: list[tuple[Any, ...]] = []
        self.extents: list[Extent] = []
        self.live: LiveOutput | None = None
        self._keep = keep
        self._long = long
        self._marks: array[int] = array("q")
        self._ordinals: array[int] | None = array("q")  # of noted iterations; None if all are marked
        self._base = 0  # ordinal in its run of the first iteration marked
        self._climbing, self._descending = _Pile(downwards=False), _Pile(downwards=True)
        self._last = -1

    def mark_all(self) -> None:
        """All iterations will come from `marked`."""
        self._ordinals = None

    def marked(self, items: Iterator[Any]) -> Iterator[Any]:
        """The items, with a mark at each if all iterations are marked."""
        return items if self._ordinals is not None else self._marking(items)

    def _marking(self, items: Iterator[Any]) -> Iterator[Any]:
        log, mark = self.log, self._marks.append
        for item in items:
            mark(len(log))
            yield item

    def note(self, ordinal: int) -> None:
        """The next entry belongs to the iteration of that ordinal in its run; no effect if all are marked."""
        ordinals = self._ordinals
        if ordinals is not None and (not ordinals or ordinals[-1] != ordinal):
            ordinals.append(ordinal)
            self._marks.append(len(self.log))

    def before(self, entry: tuple[Any, ...]) -> None:
        """Log an entry that belongs to the iteration before the one that has just begun."""
        self.log.append(entry)
        self._marks[-1] += 1

    @property
    def is_due(self) -> bool:
        """Whether the log should be cut."""
        if len(self.log) >= self._long:
            return True
        return self.live is not None and self.live.is_due(logged=bool(self.log))

    def add_numbers(self, run: range, done: range, entries: NumericEntries, *, descending: bool) -> None:
        """Log the entries of all iterations at ``done``, a part of ``run``, which goes on after it."""
        before = len(range(run.start, done.start, run.step))
        self._close(run, run[self._base : before], descending=descending)
        self._base = before + len(done)
        pile = self._descending if descending else self._climbing
        positions = np.arange(done.start, done.stop, done.step, dtype=np.int64)
        if not pile.takes(positions, entries.form):
            self._complete(pile)
        pile.add((positions, np.arange(len(done)) * len(entries.codes), entries))
        self._last = int(positions[-1])
        if pile.length >= self._long:
            self._complete(pile)
        if self.live is not None:
            self.live.finished(done)

    def cut(self, run: range, done: int) -> None:
        """Close the log so far, of the first ``done`` iterations of ``run``, which continues."""
        self._close(run, run[self._base : done])
        self._base = done

    def end_run(self, run: range, *, descending: bool = False, failed: bool = False) -> None:
        """Close the log of ``run``, which ends; if it is empty, the log of what came after the last run.

        Each ``descending`` run, of the upper partners in pairs, lies below the one before. ``failed``: its
        last iteration did.
        """
        if not run:
            self._unmark()
        self._close(run, run[self._base : len(run) - failed], descending=descending)
        self._base = 0

    def finish(self) -> None:
        """Complete the last segments."""
        self._complete(self._climbing)
        self._complete(self._descending)

    def _complete(self, pile: _Pile) -> None:
        if (found := pile.segment()) is not None:
            self.extents.append(found[0])
            self._keep(found[1])

    def _close(self, run: range, done: range, *, descending: bool = False) -> None:
        if self.log:
            self._take(run, done, self._descending if descending else self._climbing)
        elif self.live is not None and done:
            self.live.finished(done)
        self._unmark()

    def _unmark(self) -> None:
        del self._marks[:]
        if self._ordinals is not None:
            del self._ordinals[:]

    def _take(self, run: range, done: range, pile: _Pile) -> None:
        count = len(self.log)
        positions, starts = self._few(run, count) if len(self._marks) < _FEW else self._many(run, count)
        entries = self.log.copy()
        self.log.clear()
        self._last = positions[-1]
        if self.live is not None:
            positions, starts, entries = self.live.take((positions, starts, entries), done)
            if not entries:
                return
        if not pile.takes(positions):
            self._complete(pile)
        pile.add((positions, starts, entries))
        if pile.length >= self._long:
            self._complete(pile)

    def _ordinal(self, mark: int) -> int:
        return self._base + mark if self._ordinals is None else self._ordinals[mark]

    def _earlier(self, run: range) -> int:
        """The position of entries before the first mark: the last before the cut, or the nearest known."""
        return run[max(0, self._base - 1)] if run else max(0, self._last)

    def _few(self, run: range, count: int) -> tuple[array[int], array[int]]:
        positions, starts = array("q"), array("q")
        if not self._marks or self._marks[0] > 0:
            positions.append(self._earlier(run))
            starts.append(0)
        for mark, (start, end) in enumerate(pairwise([*self._marks, count])):
            position = run[self._ordinal(mark)]
            if end > start and (not positions or positions[-1] < position):
                positions.append(position)
                starts.append(start)
        return positions, starts

    def _many(self, run: range, count: int) -> tuple[array[int], array[int]]:
        marks = np.array(self._marks, np.int64)
        ordinals = np.arange(len(marks)) + self._base if self._ordinals is None else np.array(self._ordinals)
        filled = np.append(marks[1:], count) > marks
        places, begins = (run.start + ordinals * run.step)[filled], marks[filled]
        positions, starts = array("q"), array("q")
        if not len(begins) or begins[0] > 0:
            earlier = self._earlier(run)
            if len(places) and places[0] == earlier:
                places, begins = places[1:], begins[1:]
            positions.append(earlier)
            starts.append(0)
        positions.frombytes(places.astype(np.int64).tobytes())
        starts.frombytes(begins.tobytes())
        return positions, starts
