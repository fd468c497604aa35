"""Traces of runs: the events and actions of each rank, what it computed and when; read from a file.

Real and simulated runs have one format: Chrome trace-event JSON (`dlbrt.observe.trace_events`), which
chrome://tracing and Perfetto show, with one more key at the top, ``dlb``. From this key everything here comes
back exactly (`dlbrt.observe.trace_codec`), so the events can be given to the core again (`dlbrt.sim.replay`)
and the loop can be simulated on another machine (`dlbrt.sim.recorded`).

    {"version": 2, "kind": "run", "package": "0.2.0", "ranks": P, "host_names": [...], "offsets_s": [...],
     "machine": VALUE, "modules": {...}, "left_out": {"runs": 0, "loops": 0},
     "program": {"command": "dlbc run -n 2 file.py", "date": "2026-11-26T10:00:00+00:00", "began": t,
                 "startup_s": s, "elapsed_s": s, "tracing_s": s, "statistics": {...}},
     "loops": [{"id": "1", "source": "file.py:12",
                "runs": [{"strategy": "GDDLB", "iterations": n, "setup": VALUE,
                          "started": t, "elapsed_s": s, "loading_s": s, "reason": "", "interpreted": "",
                          "per_rank": [{"began": t, "entries": [[s, VALUE, [VALUE, ...]], ...],
                                        "chunks": [[start, stop, step, began, seconds, computing_s], ...],
                                        "left_out": {"entries": 0, "chunks": 0}}]}]}],
     "shared": [...]}

Times are in seconds. Those inside a VALUE, ``began`` and those of chunks are of the rank's own clock, since a
balancer computes with them; ``offsets_s`` says how far that clock is ahead of rank 0's. ``s`` is the time of
an event since the trace began, on rank 0's clock; Chrome events have it in microseconds. ``program``,
and of a run what stands in the line of ``started``, may be missing: simulations have none of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from math import isfinite
from pathlib import Path
from typing import Any, Literal

from dlbrt.balance.actions import Action
from dlbrt.balance.events import Event
from dlbrt.balance.setup import AgentSetup
from dlbrt.emulation import LoadSpec
from dlbrt.observe.trace_codec import CodecError, Decoder, fits
from dlbrt.records import dataclass

#: Version of what stands under the key ``dlb``.
FORMAT_VERSION = 2

_KINDS = ("run", "simulation")


class TraceError(ValueError):
    """A file that is not a complete trace of this version; one sentence with its name."""


@dataclass(frozen=True, slots=True)
class Transferred:
    """A call of `dlbrt.balance.agent.Agent.transferred` at that time: an input that is not an event."""

    now: float
    seconds: float
    size: int


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """An event of a rank's agent, and the actions with which it answered."""

    event: Event | Transferred
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive iterations, when they began, and how many seconds they took.

    ``computing_s`` is without the time that emulated load and speeds added.
    """

    positions: range
    began: float
    seconds: float
    computing_s: float


@dataclass(frozen=True, slots=True)
class RankTrace:
    """One rank in one run of a loop: the time when its agent began, entries and chunks in order.

    Rank 0 may have earlier entries, of what it did before it shared the loop, which no agent has seen.
    ``lost_entries`` and ``lost_chunks`` count those that were too many to keep.
    """

    began: float
    entries: tuple[TraceEntry, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    lost_entries: int = 0
    lost_chunks: int = 0


@dataclass(frozen=True, slots=True)
class RunTrace:
    """One run of a loop; ``strategy`` is the last one used. Without ``setup`` rank 0 ran it alone.

    It ``started`` on rank 0's clock (None in a simulation) and took the program ``elapsed_s``, of which ranks
    spent ``loading_s`` on imports and compiling. ``reason`` says why rank 0 ran it alone, ``interpreted`` why
    a `jit` loop was left to Python.
    """

    strategy: str
    iterations: int
    per_rank: tuple[RankTrace, ...]
    setup: AgentSetup | None = None
    started: float | None = None
    elapsed_s: float = 0.0
    loading_s: float = 0.0
    reason: str = ""
    interpreted: str = ""

    @property
    def complete(self) -> bool:
        """Whether no event was lost."""
        return not any(rank.lost_entries for rank in self.per_rank)


@dataclass(frozen=True, slots=True)
class LoopTrace:
    """One loop, by its id in the statistics and its place, and its runs in order."""

    id: str
    source: str
    runs: tuple[RunTrace, ...]


@dataclass(frozen=True, slots=True)
class TracedMachine:
    """The machine of a run: the emulated load, and the relative speeds known at its start."""

    load: LoadSpec = field(default_factory=LoadSpec)
    weights: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class TracedProgram:
    """The whole program: the command that ran it, when, how long it took, and its statistics.

    ``date`` is in ISO 8601. The runtime was ready at ``began`` on rank 0's clock, ``startup_s`` after its
    process had started; the program then took ``elapsed_s``, of which the recording of its runs took
    ``tracing_s``.
    """

    command: str
    date: str
    began: float
    startup_s: float
    elapsed_s: float
    tracing_s: float
    statistics: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Trace:
    """The trace of a whole program; ``kind`` is ``run`` or ``simulation``.

    ``offsets_s`` is how far each rank's clock is ahead of rank 0's. ``left_out`` counts runs that are missing
    from ``loops`` because the trace had become too long. A simulation has no ``program``.
    """

    kind: Literal["run", "simulation"]
    host_names: tuple[str, ...]
    offsets_s: tuple[float, ...]
    machine: TracedMachine
    loops: tuple[LoopTrace, ...]
    left_out: int = 0
    program: TracedProgram | None = None

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return len(self.host_names)


def read(path: str | os.PathLike[str]) -> Trace:
    """The trace in a file; TraceError if it is unreadable, no trace, cut short or of another version."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise TraceError(f"{path}: expected a trace, found a file that is no text") from None
    except OSError as error:
        raise TraceError(f"{path}: cannot be read ({error.strerror or error})") from None
    return parse(text, str(path))


def parse(text: str, name: str) -> Trace:
    """The trace in the text of a file of that name; TraceError as `read`."""
    try:
        return _Reader(_ours(text)).trace()
    except json.JSONDecodeError as error:
        cut = "; was it cut short?" if error.pos >= len(text.rstrip()) - 1 else ""
        where = f"line {error.lineno}, column {error.colno}: {error.msg}"
        raise TraceError(f"{name}: expected a trace, found no JSON ({where}){cut}") from None
    except RecursionError:
        raise TraceError(f"{name}: expected a trace, found JSON that is nested too deep") from None
    except KeyError as error:
        raise TraceError(f"{name}: expected a trace, found none of its keys {error}") from None
    except (CodecError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise TraceError(f"{name}: {error}") from None


def _ours(text: str) -> dict[str, Any]:
    """The value of the key ``dlb``; CodecError if it is missing or of another version."""
    document = json.loads(text, parse_constant=_no_number)
    if not isinstance(document, dict) or not isinstance(document.get("dlb"), dict):
        raise CodecError("expected a trace that --trace wrote, found JSON without the key dlb")
    found: dict[str, Any] = document["dlb"]
    if (version := found.get("version")) != FORMAT_VERSION:
        expected = f"expected a trace of format version {FORMAT_VERSION}"
        raise CodecError(f"{expected}, found {version!r}: record the run again")
    return found


def _no_number(text: str) -> float:
    raise CodecError(f"expected a finite number, found {text}")


class _Reader:
    """Reads the value of the key ``dlb``; raises what `parse` turns into TraceError."""

    def __init__(self, found: dict[str, Any]) -> None:
        self._found = found
        if not isinstance(modules := found["modules"], dict):
            raise CodecError(f"expected an object, found {str(modules)[:64]}")
        self._decoder = Decoder(_list(found["shared"]), modules)

    def trace(self) -> Trace:
        """The whole trace."""
        found = self._found
        if (kind := found["kind"]) not in _KINDS:
            raise CodecError(f"expected one of {', '.join(_KINDS)}, found {kind!r}")
        hosts = tuple(map(str, _list(found["host_names"])))
        offsets = tuple(map(float, _list(found["offsets_s"])))
        if not len(hosts) == len(offsets) == found["ranks"] > 0:
            raise CodecError(f"expected a host and an offset for each of {found['ranks']} ranks")
        machine = self._value(found["machine"], TracedMachine)
        loops = tuple(self._loop(each) for each in _list(found["loops"]))
        left_out, about = _count(found["left_out"]["runs"]), found.get("program")
        program = None if about is None else _program(about)
        return Trace(kind, hosts, offsets, machine, loops, left_out, program)

    def _loop(self, found: dict[str, Any]) -> LoopTrace:
        return LoopTrace(str(found["id"]), str(found["source"]), tuple(map(self._run, _list(found["runs"]))))

    def _run(self, found: dict[str, Any]) -> RunTrace:
        per_rank = tuple(map(self._rank, _list(found["per_rank"])))
        setup = None if found["setup"] is None else self._value(found["setup"], AgentSetup)
        if setup is not None and not len(per_rank) == len(setup.start.shares) == self._found["ranks"]:
            raise CodecError(f"expected a run of {self._found['ranks']} ranks, found {len(per_rank)}")
        n = _count(found["iterations"])
        if setup is not None and setup.start.context.units.stop != n:
            raise CodecError(f"expected a run of {setup.start.context.units.stop} iterations, found {n}")
        for chunk in (chunk for rank in per_rank for chunk in rank.chunks):
            if not 0 <= chunk.positions.start < chunk.positions.stop <= n + chunk.positions.step - 1:
                raise CodecError(f"expected iterations below {n}, found {chunk.positions}")
        started = found.get("started")
        return RunTrace(
            str(found["strategy"]),
            n,
            per_rank,
            setup,
            None if started is None else _seconds(started),
            _seconds(found.get("elapsed_s", 0.0)),
            _seconds(found.get("loading_s", 0.0)),
            str(found.get("reason", "")),
            str(found.get("interpreted", "")),
        )

    def _rank(self, found: dict[str, Any]) -> RankTrace:
        lost = found["left_out"]
        return RankTrace(
            float(found["began"]),
            tuple(self._entry(each) for each in _list(found["entries"])),
            tuple(_chunk(each) for each in _list(found["chunks"])),
            _count(lost["entries"]),
            _count(lost["chunks"]),
        )

    def _entry(self, found: Sequence[Any]) -> TraceEntry:
        _, event, actions = found
        entry = TraceEntry(self._decoder.decode(event), tuple(map(self._decoder.decode, _list(actions))))
        if not (fits(entry.event, Event | Transferred) and all(fits(each, Action) for each in entry.actions)):
            raise CodecError(f"expected an event and actions, found {str(entry)[:64]}")
        if not isfinite(entry.event.now):
            raise CodecError(f"expected a time, found {entry.event.now}")
        return entry

    def _value(self, found: Any, kind: type) -> Any:
        value = self._decoder.decode(found)
        if type(value) is not kind:
            raise CodecError(f"expected a {kind.__name__}, found {str(found)[:64]}")
        return value


def _chunk(found: Sequence[Any]) -> Chunk:
    start, stop, step, began, seconds, computing_s = found
    if not (step > 0 and seconds >= 0 and computing_s >= 0):
        raise CodecError(f"expected iterations in order and times of 0 or more, found {list(found)}")
    return Chunk(range(start, stop, step), float(began), float(seconds), float(computing_s))


def _program(found: dict[str, Any]) -> TracedProgram:
    if not isinstance(found, dict) or not isinstance(about := found["statistics"], dict):
        raise CodecError(f"expected an object, found {str(found)[:64]}")
    began, startup_s = _seconds(found["began"]), _seconds(found["startup_s"])
    elapsed_s, tracing_s = _seconds(found["elapsed_s"]), _seconds(found["tracing_s"])
    command, date = str(found["command"]), str(found["date"])
    return TracedProgram(command, date, began, startup_s, elapsed_s, tracing_s, about)


def _seconds(found: Any) -> float:
    if isinstance(found, bool) or not isinstance(found, int | float) or found < 0:
        raise CodecError(f"expected a number of seconds, found {str(found)[:64]}")
    return float(found)


def _count(found: Any) -> int:
    if type(found) is not int or found < 0:
        raise CodecError(f"expected a number of 0 or more, found {found!r}")
    return found


def _list(found: Any) -> list[Any]:
    if not isinstance(found, list):
        raise CodecError(f"expected an array, found {str(found)[:64]}")
    return found
