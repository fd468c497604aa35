"""Rank 0 applies the logs of all ranks, in iteration order, to the real objects.

An entry that fails is what the sequential program would have met at that iteration; the rest is not applied.
Sums of plain numbers and text, which cannot fail, are applied at once. For floats ``np.add.accumulate`` does
so: it adds one operand after the other, as Python does, so the result has the same bits.

The logs are merged whichever rank executed an iteration, and whenever. Segments are opened when their first
positions come up. What lies before the first position of the unopened segments is complete and is applied. So
blocks pass one by one, and cyclic iterations as many at a time as there are ranks: memory is bounded by the
segments that overlap, not by the log.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from dlbrt.records import dataclass
from dlbrt.reductions.journal import Extent, NumericEntries, Segment, put_together
from dlbrt.reductions.kinds import ContributionForm, ContributionKind, is_decided, part_of
from dlbrt.reductions.log_records import handle
from dlbrt.reductions.numbers import Numbers, folded
from dlbrt.reductions.operations import (
    APPLY,
    AT,
    CALL,
    CHAIN,
    ITEM,
    OUT,
    RECORD,
    SHARE,
    STORE,
    WIDTH,
    WRITE,
    MisuseError,
)
from dlbrt.reductions.output import show
from dlbrt.reductions.private_copies import put_counts, put_share

LogEntry = Sequence[Any]
Handler = Callable[[LogEntry], None]

_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}

#: Contributions to an object that stays the same one.
_IN_PLACE = (ContributionForm.ELEMENTS, ContributionForm.ADDED)


@dataclass(frozen=True, slots=True)
class ReplayFailure:
    """The exception raised by applying an entry of the iteration at ``position``."""

    position: int
    error: Exception


class Replay:
    """Applies segments to ``values``, by name; ``stream`` is the real standard output.

    Names are numbered from 1 in the order of ``kinds``, as on every rank; 0 is standard output.
    """

    def __init__(self, kinds: dict[str, ContributionKind], values: dict[str, Any], stream: Any) -> None:
        self._names = ["", *kinds]
        self._kinds = kinds
        self._values = values
        self._stream = stream
        self._handlers: dict[int, Handler] = {}
        self._unbeaten: dict[str, LogEntry] = {}
        self._latest: Segment | None = None

    def apply(self, segment: Segment) -> ReplayFailure | None:
        """Apply a segment; returns the failure, if there was one."""
        self._latest = segment
        entries = segment.entries
        if isinstance(entries, NumericEntries):
            if self._at_once(entries):
                return None
        elif (parts := self._separable(entries)) is not None:
            for code, operands in parts.items():
                self._values[self._names[code // WIDTH]] = operands
            return None
        elif self._appends(entries):
            return None
        return self._one_by_one(segment, segment.listed())

    def doubts(self, failed_at: int) -> list[str]:
        """Names because of which the sequential program might not have reached the failure of an iteration.

        A rank evaluates ``e`` of ``s and e``, and the companions of a selection, before it knows the outcome
        of the iterations before its own; the sequential program might have skipped them because of that
        outcome.
        """
        entries: Sequence[LogEntry] = ()
        if self._latest is not None and self._unbeaten and int(self._latest.positions[-1]) == failed_at:
            entries = self._latest.listed()
        beaten = [name for name, share in self._unbeaten.items() if any(entry is share for entry in entries)]
        return beaten + [name for name, kind in self._kinds.items() if is_decided(kind, self._values[name])]

    def _one_by_one(self, segment: Segment, entries: Sequence[LogEntry]) -> ReplayFailure | None:
        place = 0
        handlers = self._handlers
        try:
            for place, entry in enumerate(entries):  # noqa: B007
                handler = handlers.get(entry[0])
                (handler or self._handler(entry[0]))(entry)
        except Exception as error:  # whatever the program's own operators raise
            return ReplayFailure(segment.position(place), error)
        return None

    def _at_once(self, entries: NumericEntries) -> bool:
        """Whether the outcomes of numbers were found at once, those of one name after the other."""
        outcomes: dict[str, Any] = {}
        for code, numbers in zip(entries.codes, entries.columns, strict=True):
            name = self._names[code // WIDTH]
            if name in outcomes or self._kinds[name].form in _IN_PLACE:
                return False
            if (outcome := folded(code % WIDTH, self._values[name], numbers)) is None:
                return False
            outcomes[name] = outcome
        self._values.update(outcomes)
        return True

    def _separable(self, entries: Sequence[LogEntry]) -> dict[int, Any] | None:
        """The outcome by code, if the order of entries of different codes does not matter; else None."""
        codes = {entry[0] for entry in entries}
        names = {code // WIDTH for code in codes}
        if 0 in names or len(names) < len(codes) or any(code % WIDTH >= AT for code in codes):
            return None
        if any(self._kinds[self._names[name]].form in _IN_PLACE for name in names):
            return None
        outcomes = {}
        for code in codes:
            operands = [entry[1] for entry in entries if entry[0] == code]
            outcome = _combined(code % WIDTH, self._values[self._names[code // WIDTH]], operands)
            if outcome is None:
                return None
            outcomes[code] = outcome
        return outcomes

    def _appends(self, entries: Sequence[LogEntry]) -> bool:
        """Whether entries did nothing but append to one list, to which all items were added at once."""
        code = entries[0][0] if entries else 0
        real = self._values[self._names[code // WIDTH]] if code // WIDTH else None
        if type(real) is not list or code % WIDTH != CALL or any(entry[0] != code for entry in entries):
            return False
        if any(entry[1] != "append" or len(entry[2]) != 1 or entry[3] for entry in entries):
            return False
        real.extend([entry[2][0] for entry in entries])
        return True

    def _handler(self, code: int) -> Handler:
        target, operation = divmod(code, WIDTH)
        name = self._names[target]
        made = self._output(operation) if target == 0 else self._on(name, self._kinds[name], operation)
        self._handlers[code] = made
        return made

    def _output(self, operation: int) -> Handler:
        stream = self._stream

        def text(entry: LogEntry) -> None:
            stream.write(entry[1])

        def other(entry: LogEntry) -> None:
            show(stream, operation, *entry[1:])

        def record(entry: LogEntry) -> None:
            handle(entry[1])

        return {WRITE: text, RECORD: record}.get(operation, other)

    def _on(self, name: str, kind: ContributionKind, operation: int) -> Handler:
        if kind.form is ContributionForm.SELECTION:
            return self._selection(name, kind)
        if kind.form is ContributionForm.LAST:
            return self._last(name)
        if kind.form is ContributionForm.ELEMENTS:
            return _elements(self._values[name], kind, operation)
        if kind.form is ContributionForm.ADDED:
            return self._added(name, operation)
        return self._value(name, operation)

    def _value(self, name: str, operation: int) -> Handler:
        values, apply = self._values, APPLY[operation]

        def handle(entry: LogEntry) -> None:
            values[name] = apply(values[name], entry[1])

        return handle

    def _last(self, name: str) -> Handler:
        def handle(entry: LogEntry) -> None:
            self._values[name] = entry[1]

        return handle

    def _selection(self, name: str, kind: ContributionKind) -> Handler:
        values, none_first = self._values, kind.none_first
        beats, part = _COMPARE[kind.operator], part_of(kind.by)

        def handle(entry: LogEntry) -> None:
            taken = none_first and values[name] is None
            if taken and entry[2] is None:
                raise MisuseError(
                    f"the first value offered to {name} is {part(entry[1])!r}, which has no order"
                )
            if taken or beats(part(entry[1]), part(values[name])):
                values[name] = entry[1]
                values.update(entry[2])
                self._unbeaten.pop(name, None)
            else:
                self._unbeaten[name] = entry

        return handle

    def _added(self, name: str, operation: int) -> Handler:
        real = self._values[name]

        def call(entry: LogEntry) -> None:
            getattr(real, entry[1])(*entry[2], **entry[3])

        def store(entry: LogEntry) -> None:
            real[entry[1]] = entry[2]

        def share(entry: LogEntry) -> None:
            put_counts(real, entry[1])

        def item(entry: LogEntry) -> None:
            held = real[entry[1]]
            if len(entry) > 2:
                getattr(held, entry[2])(*entry[3], **entry[4])

        known = {CALL: call, STORE: store, SHARE: share, ITEM: item}
        return known.get(operation) or self._value(name, operation)


def _elements(real: Any, kind: ContributionKind, operation: int) -> Handler:
    """Applies updates of one element (an entry of four items: read by ``get``), or of all (two items)."""

    def at(entry: LogEntry) -> None:
        entry[1].at(real, *entry[2])

    def out(entry: LogEntry) -> None:
        entry[1](*((real, entry[2]) if entry[3] else (entry[2], real)), out=real)

    def share(entry: LogEntry) -> None:
        put_share(real, entry[1], kind.operator)

    def chain(entry: LogEntry) -> None:
        value = real.get(entry[1], entry[3]) if len(entry) == 4 else real[entry[1]]
        for step, operand in entry[2]:
            value = APPLY[step](value, operand)
        real[entry[1]] = value

    if operation >= CHAIN:
        return {CHAIN: chain, AT: at, OUT: out, SHARE: share}[operation]
    apply = APPLY[operation]

    def handle(entry: LogEntry) -> None:
        if len(entry) == 3:
            real[entry[1]] = apply(real[entry[1]], entry[2])
        elif len(entry) == 4:
            real[entry[1]] = apply(real.get(entry[1], entry[3]), entry[2])
        else:
            apply(real, entry[1])

    return handle


def _combined(operation: int, value: Any, operands: list[Any]) -> Any:
    """The outcome of an operation with many operands, if it surely equals that of one after the other."""
    kinds = set(map(type, operands))
    if type(value) is str and operation < 2 and kinds == {str}:
        return value + "".join(operands)
    if type(value) is int and operation < 3 and kinds == {int}:
        return sum(operands, value)
    if kinds not in ({float}, {np.float64}):
        return None
    return folded(operation, value, Numbers(kinds.pop(), np.array(operands)))


@dataclass(frozen=True, slots=True)
class SegmentId:
    """A segment, by its rank and its number there."""

    rank: int
    number: int


def merged(
    extents: Sequence[Sequence[Extent]], fetch: Callable[[SegmentId], Segment], end: int
) -> Iterator[Segment]:
    """Segments in ascending order of positions up to ``end``, from ``extents[rank]``.

    A position is in the segments of one rank only; if it is in two of them, they keep their order. ``fetch``
    is called once for each segment needed, in the order of first positions.
    """
    waiting = sorted(
        (extent.first, rank, number)
        for rank, known in enumerate(extents)
        for number, extent in enumerate(known)
        if extent.first <= end
    )
    opened: list[Segment] = []
    for turn, (first, rank, number) in enumerate(waiting):
        opened.append(fetch(SegmentId(rank, number)).up_to(end))
        horizon = waiting[turn + 1][0] if turn + 1 < len(waiting) else end + 1
        if horizon > first:
            ready = [segment.up_to(horizon - 1) for segment in opened]
            opened = [segment.part(len(done.positions), len(segment.positions))
                      for segment, done in zip(opened, ready, strict=True)]  # fmt: skip
            opened = [segment for segment in opened if len(segment.positions)]
            yield _interleaved([segment for segment in ready if len(segment.positions)])


def _interleaved(segments: Sequence[Segment]) -> Segment:
    """One segment of one or more whose positions may interleave."""
    if len(segments) == 1:
        return segments[0]
    positions = np.concatenate([segment.positions for segment in segments])
    order = np.argsort(positions, kind="stable")
    lengths = np.concatenate([_lengths(segment) for segment in segments])
    offsets, taken = _starts(lengths)[order], lengths[order]
    starts = _starts(taken)
    numeric = [segment.entries for segment in segments if isinstance(segment.entries, NumericEntries)]
    if len(numeric) == len(segments) and len({each.form for each in numeric}) == 1:
        joined = put_together(numeric)
        width = len(joined.codes)
        rows = np.repeat((offsets - starts) // width, taken // width) + np.arange(len(joined) // width)
        columns = tuple(each.taken(rows) for each in joined.columns)
        return Segment(positions[order], starts, NumericEntries(joined.codes, columns))
    listed = [entry for segment in segments for entry in segment.listed()]
    entries = [
        entry
        for start, length in zip(offsets.tolist(), taken.tolist(), strict=True)
        for entry in listed[start : start + length]
    ]
    return Segment(positions[order], starts, entries)


def _starts(lengths: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Where parts of these lengths begin that lie one after the other."""
    return np.concatenate([[0], np.cumsum(lengths)[:-1]])


def _lengths(segment: Segment) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.diff(segment.starts, append=len(segment.entries))
