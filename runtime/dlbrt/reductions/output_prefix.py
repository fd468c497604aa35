"""Output shown while ranks share a loop: that of iterations before which all others are done.

Law. Each entry of a journal is in one place at a time: in the journal of its rank, or, once it is detached,
on its way to rank 0 and then in rank 0's `OutputPrefix`, until it is shown. So nothing is shown twice or
lost, whatever is shown early; the replay at the end of the loop has the rest.

An iteration may be shown early once it and all before it are done. No failure can cut it off then, since the
lowest failing iteration comes later. Only what surely can be shown is detached: text that the stream cannot
encode is the failure of its iteration, which the replay finds. So is a contribution that cannot be applied:
from one on that might fail, nothing is detached.
"""

from __future__ import annotations

import heapq
import pickle
from array import array
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from dlbrt.records import dataclass
from dlbrt.reductions.contributions import are_moderate, is_moderate
from dlbrt.reductions.journal import Extent, Piece, Segment, SegmentStore
from dlbrt.reductions.operations import CALL, FLUSH, MAX, MAX_REFLECTED, MIN, MIN_REFLECTED, RAW, WIDTH, WRITE
from dlbrt.reductions.output import OutputProperties
from dlbrt.reductions.replay import ReplayFailure

LogEntry = tuple[Any, ...]

#: What iterations have written, by position.
PositionedOutput = list[tuple[int, list[LogEntry]]]

#: Operations on numbers that cannot fail: additions, subtractions, comparisons.
_SURE = frozenset((*range(6), MAX, MAX_REFLECTED, MIN, MIN_REFLECTED))

_OPERATION = _POSITION = itemgetter(0)
_TEXT = _OPERAND = itemgetter(1)

#: Iterations whose output is in one segment of what is left.
_SEGMENT = 1024


@dataclass(frozen=True, slots=True)
class Detached:
    """A piece of a journal taken apart.

    ``output`` is what can be shown early, of the iterations ``done``; ``rest`` stays in the journal.
    ``complete``: none of their output is in the rest, and what they contribute cannot fail.
    """

    done: range
    output: PositionedOutput
    rest: Piece
    complete: bool


def detach(piece: Piece, done: range, about: OutputProperties) -> Detached:
    """Take out the output of iterations ``done``, up to the first entry that has to be replayed in its order.

    These are entries that might fail, and output of other iterations: of one that has failed, or of one that
    was done before.
    """
    positions, starts, entries = piece
    if _are_surely_applied(entries):
        return Detached(done, [], piece, complete=True)
    output: PositionedOutput = []
    rest: Piece = array("q"), array("q"), []
    complete = True
    for position, start, end in zip(positions, starts, [*starts[1:], len(entries)], strict=True):
        logged = entries[start:end]
        if complete:
            written = list(_joined(entry for entry in logged if entry[0] < WIDTH))
            logged = [entry for entry in logged if entry[0] >= WIDTH]
            sure = all(_is_surely_shown(e, about) for e in written) and all(map(is_surely_applied, logged))
            if sure and (position in done or not written):
                if written:
                    output.append((position, written))
                if not logged:
                    continue
            else:
                logged = entries[start:end]
                complete, done = False, done[: bisect_left(done, position)]
        rest[0].append(position)
        rest[1].append(len(rest[2]))
        rest[2].extend(logged)
    return Detached(done, output, rest, complete)


def _are_surely_applied(entries: Sequence[LogEntry]) -> bool:
    """Whether entries are contributions alone, surely applied, which is seen faster of all than of each."""
    operations = set(map(_OPERATION, entries))
    if not operations or min(operations) < WIDTH:
        return False
    kinds, operands = {each % WIDTH for each in operations}, [*map(_OPERAND, entries)]
    types = set(map(type, operands))
    if kinds == {CALL}:
        return types == {str} and set(operands) == {"append"}
    if not kinds <= _SURE or not types <= {float, int} or set(map(len, entries)) != {2}:
        return False
    return types == {float} or are_moderate([each for each in operands if type(each) is int])


def without(piece: Piece, left_out: Container[int]) -> Piece:
    """The piece without the output of some positions."""
    positions, starts, entries = piece
    kept: Piece = array("q"), array("q"), []
    for position, start, end in zip(positions, starts, [*starts[1:], len(entries)], strict=True):
        logged = entries[start:end]
        if position in left_out:
            logged = [entry for entry in logged if entry[0] >= WIDTH]
        if logged:
            kept[0].append(position)
            kept[1].append(len(kept[2]))
            kept[2].extend(logged)
    return kept


def _joined(entries: Iterable[LogEntry]) -> Iterator[LogEntry]:
    """The entries, with texts that follow each other as one, as ``print`` writes several for each line."""
    for operation, group in groupby(entries, _OPERATION):
        if operation == WRITE:
            yield WRITE, "".join(map(_TEXT, group))
        else:
            yield from group


def is_surely_applied(entry: LogEntry) -> bool:
    """Whether a contribution can be applied to every value that `combines_surely` allows."""
    operation, operand = entry[0] % WIDTH, entry[1]
    return bool(operand == "append" if operation == CALL else operation in _SURE and is_moderate(operand))


def _is_surely_shown(entry: LogEntry, about: OutputProperties) -> bool:
    if entry[0] != WRITE:
        return entry[0] in (RAW, FLUSH)
    if entry[1].isascii():
        return True
    try:
        entry[1].encode(about.encoding, about.errors or "strict")
    except (UnicodeError, LookupError):
        return False
    return True


def add_run(runs: list[range], run: range) -> None:
    """Add a run of positions, as part of the last one if it continues it."""
    if runs and run:
        last = runs[-1]
        step = run[0] - last[-1]
        if step > 0 and all(len(each) == 1 or each.step == step for each in (last, run)):
            runs[-1] = range(last[0], run[-1] + step, step)
            return
    if run:
        runs.append(run)


class OutputPrefix:
    """At rank 0: what iterations have written, shown as soon as all iterations before them are done.

    ``show`` shows an entry. All iterations before ``reached`` are done, and what they wrote is shown. What
    has to wait is in memory up to ``bound`` bytes, beyond that in a temporary file. ``failure`` is what
    showing an entry has raised; nothing is shown after it.
    """

    def __init__(self, first: int, show: Callable[[LogEntry], None], bound: int) -> None:
        self.reached = first
        self.failure: ReplayFailure | None = None
        self._show = show
        self._done: list[tuple[int, int, int]] = []  # runs beyond ``reached``, by start
        self._waiting: list[tuple[int, int]] = []  # positions with output, and its number in the store
        self._store = SegmentStore(bound)

    def add(self, done: Iterable[range], output: PositionedOutput) -> None:
        """More iterations are done, with this output; show what has no gap before it any more."""
        for run in done:
            heapq.heappush(self._done, (run.start, run.stop, run.step))
        self._advance()
        for position, entries in sorted(output, key=_POSITION):
            self._show_waiting(min(position, self.reached))
            if position < self.reached and self.failure is None:
                self._show_iteration(position, entries)
            else:
                number = self._store.add(pickle.dumps(entries, pickle.HIGHEST_PROTOCOL))
                heapq.heappush(self._waiting, (position, number))
        self._show_waiting(self.reached)

    def holds(self, position: int) -> bool:
        """Whether the output of an iteration has been added."""
        return position < self.reached or any(position in range(*run) for run in self._done)

    def rest(self) -> tuple[list[Extent], Callable[[int], Segment]]:
        """What has not been shown, as segments: their extents, and a function that reads one of them."""
        waiting = sorted(self._waiting)
        parts = [waiting[start : start + _SEGMENT] for start in range(0, len(waiting), _SEGMENT)]
        return [Extent(part[0][0], part[-1][0]) for part in parts], lambda number: self._read(parts[number])

    def close(self) -> None:
        """Release what has not been shown."""
        self._store.close()

    def _advance(self) -> None:
        while self._done and self._done[0][0] <= self.reached:
            start, stop, step = heapq.heappop(self._done)
            if step == 1:
                self.reached = max(self.reached, stop)
            else:
                self.reached = max(self.reached, start + 1)
                if start + step < stop:
                    heapq.heappush(self._done, (start + step, stop, step))

    def _show_waiting(self, end: int) -> None:
        """Show what waits of the iterations before position ``end``."""
        while self._waiting and self._waiting[0][0] < end and self.failure is None:
            position, number = heapq.heappop(self._waiting)
            self._show_iteration(position, self._take(number))

    def _show_iteration(self, position: int, entries: Iterable[LogEntry]) -> None:
        try:
            for entry in entries:
                self._show(entry)
        except Exception as error:  # whatever writing to a file, a pipe or a terminal raises
            self.failure = ReplayFailure(position, error)

    def _take(self, number: int) -> list[LogEntry]:
        entries: list[LogEntry] = pickle.loads(self._store.take(number))
        return entries

    def _read(self, part: Sequence[tuple[int, int]]) -> Segment:
        starts, entries = [], list[LogEntry]()
        for _, number in part:
            starts.append(len(entries))
            entries += self._take(number)
        positions = [position for position, _ in part]
        return Segment(np.array(positions, np.int64), np.array(starts, np.int64), entries)
