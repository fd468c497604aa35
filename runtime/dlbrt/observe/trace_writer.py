"""Writes a trace run by run; each run becomes text at once, so that its objects need not be kept.

Law. A trace is bounded: once it is longer than `MAX_BYTES`, further runs are left out and counted in the
file. The file is written wholly or not at all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, Literal

from dlbrt.contract import VERSION
from dlbrt.observe.files import write_text
from dlbrt.observe.trace import (
    FORMAT_VERSION,
    Chunk,
    RankTrace,
    RunTrace,
    Trace,
    TracedMachine,
    TracedProgram,
)
from dlbrt.observe.trace_codec import Encoder
from dlbrt.observe.trace_events import names, of_run

#: The approximate bound on the length of a trace.
MAX_BYTES = 128 * 2**20


class TraceWriter:
    """The trace of a program on ranks of these hosts, which began at ``began`` on rank 0's clock.

    ``offsets_s`` is how far each rank's clock is ahead of rank 0's. ``program`` is set once the program has
    ended; ``tracing_s`` is what adding runs has taken.
    """

    def __init__(
        self,
        host_names: Sequence[str],
        began: float,
        machine: TracedMachine,
        offsets_s: Sequence[float] = (),
        kind: Literal["run", "simulation"] = "run",
        most_bytes: int = MAX_BYTES,
    ) -> None:
        self.began = began
        self.program: TracedProgram | None = None
        self.tracing_s = 0.0
        self._hosts = tuple(host_names)
        self._offsets = tuple(offsets_s) or (0.0,) * len(self._hosts)
        self._begin = [began + offset for offset in self._offsets]
        self._machine = machine
        self._kind = kind
        self._most = most_bytes
        self._encoder = Encoder()
        self._events = [_text(event) for event in names(self._hosts)]
        self._runs: dict[tuple[str, str], list[str]] = {}
        self._arrows = 0
        self._bytes = 0
        self._left_out = 0

    def add(self, loop: str, source: str, run: RunTrace) -> None:
        """Add a run of the loop with that id and place; CodecError for a value that cannot be written."""
        if self._bytes > self._most:
            self._left_out += 1
            return
        events = list(of_run(f"{source} ({run.strategy})", run, self._hosts, self._begin, self._arrows))
        self._arrows += sum(event["ph"] == "s" for event in events)
        lines, record = [_text(event) for event in events], _text(self._run(run))
        self._encoder.forget()
        self._bytes += sum(map(len, lines)) + len(record)
        self._events += lines
        self._runs.setdefault((loop, source), []).append(record)

    def text(self) -> str:
        """The content of the file for all runs so far."""
        head = {
            "version": FORMAT_VERSION,
            "kind": self._kind,
            "package": VERSION,
            "ranks": len(self._hosts),
            "host_names": self._hosts,
            "offsets_s": self._offsets,
            "machine": self._encoder.encode(self._machine),
            "modules": self._encoder.modules,
            "left_out": {"runs": self._left_out},
        }
        if self.program is not None:
            head["program"] = asdict(self.program)
        loops = (
            f'{{"id": {_text(loop)}, "source": {_text(source)}, "runs": [\n{_lines(runs)}\n]}}'
            for (loop, source), runs in self._runs.items()
        )
        shared = _lines(map(_text, self._encoder.shared))
        dlb = f'{_text(head)[:-1]}, "loops": [\n{_lines(loops)}\n], "shared": [\n{shared}\n]}}'
        events = _lines(self._events)
        return f'{{"displayTimeUnit": "ms", "traceEvents": [\n{events}\n], "dlb": {dlb}}}\n'

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the file, wholly or not at all; OSError if it cannot be written."""
        write_text(path, self.text())

    def _run(self, run: RunTrace) -> dict[str, Any]:
        return {
            "strategy": run.strategy,
            "iterations": run.iterations,
            "setup": self._encoder.encode(run.setup),
            **({} if run.started is None else _as_the_program_saw_it(run)),
            "per_rank": [self._rank(number, rank) for number, rank in enumerate(run.per_rank)],
        }

    def _rank(self, number: int, rank: RankTrace) -> dict[str, Any]:
        begin, encode = self._begin[number], self._encoder.encode
        return {
            "began": rank.began,
            "entries": [
                [round(entry.event.now - begin, 9), encode(entry.event), list(map(encode, entry.actions))]
                for entry in rank.entries
            ],
            "chunks": list(map(_chunk, rank.chunks)),
            "left_out": {"entries": rank.lost_entries, "chunks": rank.lost_chunks},
        }


def text_of(trace: Trace, began: float = 0.0) -> str:
    """The content of the file of a whole trace."""
    tracing = TraceWriter(trace.host_names, began, trace.machine, trace.offsets_s, trace.kind)
    for loop in trace.loops:
        for run in loop.runs:
            tracing.add(loop.id, loop.source, run)
    tracing.program = trace.program
    return tracing.text()


def _as_the_program_saw_it(run: RunTrace) -> dict[str, Any]:
    about = ("started", "elapsed_s", "loading_s", "reason", "interpreted")
    return {name: getattr(run, name) for name in about}


def _chunk(chunk: Chunk) -> list[float]:
    place = chunk.positions
    return [place.start, place.stop, place.step, chunk.began, chunk.seconds, chunk.computing_s]


def _text(value: Any) -> str:
    return json.dumps(value, allow_nan=False)


def _lines(parts: Iterable[str]) -> str:
    return ",\n".join(parts)
