"""The Chrome trace events of a trace, which chrome://tracing and Perfetto draw.

The format is Google's "Trace Event Format": a host is a process, a rank is one of its threads, and each event
is an object with its time ``ts`` in microseconds. Each rank has a slice (``X``) for a run of a loop, and in
it slices for the time until its data has arrived (scatter), for computing, moving, synchronizing (waiting
while there is work) and idling (waiting without work). Other events are instants (``i``), and work sent to
another rank is an arrow (``s``, ``f``). Everything follows from the entries of `dlbrt.observe.trace`,
whatever the strategy: what is neither computing nor moving is waiting. All integer and text members of an
event are shown.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import zip_longest
from math import inf
from typing import Any

from dlbrt.balance.actions import Move, SendWork
from dlbrt.balance.events import Exhausted, TimeElapsed, UnderWay, Worked, WorkReceived
from dlbrt.observe.trace import RankTrace, RunTrace, TraceEntry, Transferred
from dlbrt.records import dataclass

#: Pauses shorter than this, as between two chunks, count as computing.
_PAUSE_S = 1e-4

#: Waits shorter than this are not shown.
_MIN_WAIT_S = 1e-5

#: Times that differ by less than this count as equal.
_ROUNDING_S = 1e-9

#: An arrow ends this much, the resolution of a trace, before the end of its slice.
_INSIDE_S = 1e-9

#: Events not shown as instants: slices show them, or they mean nothing to a reader.
_UNSEEN = (Worked, UnderWay, Exhausted, TimeElapsed, Transferred)


@dataclass(slots=True)
class Slice:
    """A part of a rank's time, in seconds of its own clock: what it did, with how many units or bytes."""

    what: str
    begin: float
    end: float
    amount: int = 0


def names(host_names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The events that name processes and threads."""
    for pid, host in enumerate(dict.fromkeys(host_names)):
        yield {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": host}}
    for rank, pid in enumerate(_processes(host_names)):
        place = {"ph": "M", "pid": pid, "tid": rank}
        yield {**place, "name": "thread_name", "args": {"name": f"rank {rank}"}}
        yield {**place, "name": "thread_sort_index", "args": {"sort_index": rank}}


def of_run(
    name: str, run: RunTrace, host_names: Sequence[str], begin: Sequence[float], first: int = 0
) -> Iterator[dict[str, Any]]:
    """The events of one run of the loop with that name.

    ``begin`` is when the trace began, on each rank's clock; arrows are numbered from ``first``.
    """
    pids = _processes(host_names)
    for rank, found in enumerate(run.per_rank):
        if found.entries:
            place = _Place(pids[rank], rank, begin[rank])
            yield from _of_rank(place, name, run, found)
    for number, arrow in enumerate(arrows(run, begin), first):
        for side, place_of, when in (("s", arrow.source, arrow.left), ("f", arrow.target, arrow.came)):
            place = _Place(pids[place_of], place_of, 0.0)
            more = {"bp": "e"} if side == "f" else {}
            yield place.event(side, "work", when, cat="move", id=number, **more, args={"units": arrow.units})


def slices(rank: RankTrace) -> list[Slice]:
    """A rank's time in a run of a loop, in order.

    It is ``scatter`` before its first event, then ``compute``, ``move``, ``synchronize`` and ``idle``.
    """
    busy, times = _busy(rank), [entry.event.now for entry in rank.entries]
    reached = min(rank.began, busy[0].begin) if busy else rank.began
    ran_out = [entry.event.now for entry in rank.entries if isinstance(entry.event, Exhausted)]
    found: list[Slice] = []
    for part in [*busy, Slice("", times[-1], times[-1])] if times else busy:
        if part.begin - reached >= _MIN_WAIT_S:
            what = "idle" if any(reached <= when <= part.begin for when in ran_out) else "synchronize"
            found.append(Slice("scatter" if part.begin <= times[0] else what, reached, part.begin))
        if part.what:
            found.append(part)
        reached = max(reached, part.end)
    return found


def _busy(rank: RankTrace) -> list[Slice]:
    """The slices of computing and moving, each of which is reported when it is over.

    Computing begins with the first chunk after the previous event, and goes on while others are served within
    an iteration. Emulated waiting that took too long counts as computing as well.
    """
    found: list[Slice] = []
    began, before, within = sorted(chunk.began for chunk in rank.chunks), -inf, False
    for entry in rank.entries:
        within = isinstance(entry.event, UnderWay) or (within and not isinstance(entry.event, Worked))
        match entry.event:
            case Worked(now, units, seconds):
                first = bisect_left(began, before - _ROUNDING_S)
                begin = began[first] if first < len(began) and began[first] < now else now - seconds
                _add(found, Slice("compute", max(begin, before), now, units))
            case Transferred(now, seconds, size):
                _add(found, Slice("move", max(now - seconds, before), now, size))
        before = before if within else entry.event.now
    return found


def _add(found: list[Slice], part: Slice) -> None:
    """Append a slice; computing that continues extends the last one."""
    last = found[-1] if found else None
    if last is not None and part.what == last.what == "compute" and part.begin - last.end <= _PAUSE_S:
        last.end, last.amount = part.end, last.amount + part.amount
    else:
        found.append(part)


@dataclass(frozen=True, slots=True)
class _Place:
    """A rank's process and thread, and when the trace began on its clock."""

    pid: int
    tid: int
    begin: float

    def event(self, kind: str, name: str, when: float, **more: Any) -> dict[str, Any]:
        """One event at that time, in seconds."""
        ts = round((when - self.begin) * 1e6, 3)
        return {"ph": kind, "name": name, "pid": self.pid, "tid": self.tid, "ts": ts, **more}

    def slice(self, name: str, begin: float, end: float, args: dict[str, Any]) -> dict[str, Any]:
        """A slice; both ends are rounded alike, so that adjacent slices stay adjacent."""
        found = self.event("X", name, begin, cat=name, args=args)
        return found | {"dur": round(round((end - self.begin) * 1e6, 3) - found["ts"], 3)}


def _of_rank(place: _Place, name: str, run: RunTrace, rank: RankTrace) -> Iterator[dict[str, Any]]:
    parts = slices(rank)
    ends = [rank.began, *(part.end for part in parts), *(entry.event.now for entry in rank.entries[-1:])]
    begins = [rank.began, *(part.begin for part in parts[:1])]
    about = {"strategy": run.strategy, "iterations": run.iterations}
    yield place.slice(name, min(begins), max(ends), about) | {"cat": "loop"}
    for part in parts:
        amount = {"compute": {"units": part.amount}, "move": {"bytes": part.amount}}.get(part.what, {})
        yield place.slice(part.what, part.begin, part.end, amount)
    for entry in rank.entries:
        if not isinstance(entry.event, _UNSEEN):
            args = _shown(entry)
            yield place.event("i", type(entry.event).__name__, entry.event.now, cat="event", s="t", args=args)


def _shown(entry: TraceEntry) -> dict[str, Any]:
    """The integers and text of an event, and the names of the actions."""
    values = {each.name: getattr(entry.event, each.name) for each in fields(entry.event)}
    plain = {name: value for name, value in values.items() if isinstance(value, bool | int | str)}
    return plain | {"asks": [type(action).__name__ for action in entry.actions]}


@dataclass(frozen=True, slots=True)
class Arrow:
    """Work sent from rank to rank; it ``left`` and ``came`` in this order, on one clock."""

    source: int
    target: int
    units: int
    left: float
    came: float


def arrows(run: RunTrace, ahead: Sequence[float]) -> Iterator[Arrow]:
    """Work that goes from rank to rank: each send, with the receiver's next receive from the same rank.

    ``ahead`` is how far each rank's clock is ahead of the reference clock; not all of these ranks need have
    taken part. An arrow leads from where the sender begins to move to just before the receiver has moved, so
    that its ends lie in slices. But a receiver of work without data does not wait for the sender, and clocks
    agree to some microseconds only. So work that came before it left counts as having left when it came; or,
    if the sender's run began later, as having come when it left.
    """
    came: dict[tuple[int, int], deque[float]] = defaultdict(deque)
    sent: list[tuple[int, int, int, float]] = []
    for rank, found in enumerate(run.per_rank):
        for part in _movements(rank, found):
            if part.gives:
                sent.append((rank, part.other, part.units, part.begin - ahead[rank]))
            else:
                came[part.other, rank].append(max(part.begin, part.end - _INSIDE_S) - ahead[rank])
    for source, target, units, left in sent:
        if waiting := came[source, target]:
            least = run.per_rank[source].began - ahead[source]
            here = max(min(left, waiting[0]), least)
            yield Arrow(source, target, units, here, max(here, waiting.popleft()))


@dataclass(frozen=True, slots=True)
class _Movement:
    """Work that a rank gives to another or takes from it, from ``begin`` to ``end`` on its own clock."""

    gives: bool
    other: int
    units: int
    begin: float
    end: float


def _movements(rank: int, found: RankTrace) -> Iterator[_Movement]:
    """The work that a rank gives and takes, in order."""
    for entry, after in zip_longest(found.entries, found.entries[1:]):
        now = entry.event.now
        if isinstance(entry.event, WorkReceived):
            yield _Movement(False, entry.event.source, len(entry.event.units), now, now)
        for action in entry.actions:
            if isinstance(action, SendWork):
                yield _Movement(True, action.target, len(action.units), now, now)
            elif isinstance(action, Move):
                span = _time_of_move(now, after)
                for transfer in action.transfers:
                    if transfer.source == rank:
                        yield _Movement(True, transfer.target, len(transfer.spans), *span)
                    elif transfer.target == rank:
                        yield _Movement(False, transfer.source, len(transfer.spans), *span)


def _time_of_move(now: float, after: TraceEntry | None) -> tuple[float, float]:
    """The time in which a rank carried out a move asked for at ``now``; no time if there was no data."""
    if after is None or not isinstance(after.event, Transferred):
        return now, now
    return max(now, after.event.now - after.event.seconds), after.event.now


def _processes(host_names: Sequence[str]) -> list[int]:
    """The process number of each rank, which is that of its host."""
    numbers = {host: number for number, host in enumerate(dict.fromkeys(host_names))}
    return [numbers[host] for host in host_names]
