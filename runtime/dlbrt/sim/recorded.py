"""A recorded run as input of a simulation: its loops, and the machine that it ran on.

    recording = read("trace.json")      # TraceError, which is a ValueError, with one sentence
    for loop in recording.loops: ...    # `RecordedLoop`: number (from 1), id, source, iterations, ...
    model = recording.loop(1, ranks=8)  # a `LoopModel`, dealt for 8 ranks; ValueError if there is none
    machine = recording.machine()       # the `Machine` that it ran on, with the load that was emulated
    simulate(Machine((1.0,) * 8, recording.network), model, strategy("GDDLB"), recording.parameters)

The time of an iteration on a processor of speed 1 is computed from the chunks in which ranks did it: the
computing time without what emulated load and speeds added, times the relative speed of the rank's host,
spread evenly over the chunk; and the mean over the runs of the loop with the same number of iterations. The
ranks of one host count as equally fast. Several hosts have the speeds given to the program (``--weights``);
else their speeds are the work, as the balancer knew it, done in a second of computing. The fastest host has
speed 1. If the loop's cost was not known and no work moved, a slow host cannot be told from an expensive part
of the loop.

A loop of more than `MAX_ITERATIONS` is simulated in groups of iterations, as large as needed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from dlbrt.balance.setup import AgentSetup
from dlbrt.data.layout import cyclic
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import UNIFORM, Units, WorkTable
from dlbrt.observe.trace import Chunk, LoopTrace, RunTrace, Trace
from dlbrt.observe.trace import read as read_trace
from dlbrt.parameters import Parameters
from dlbrt.predict.groups import GroupRules, default
from dlbrt.predict.network import Network
from dlbrt.records import dataclass
from dlbrt.sim.machine import LoopModel, Machine

MAX_ITERATIONS = 2**20

Seconds = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RecordedLoop:
    """A loop of a recording: figures of its last run, and the number of its runs."""

    number: int
    id: str
    source: str
    iterations: int
    runs: int
    strategy: str


def read(path: str | os.PathLike[str]) -> Recording:
    """The recording in a file; TraceError if the file is not a recording."""
    return Recording(read_trace(path))


class Recording:
    """A recorded run of a program; ``trace`` is all of it."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return self.trace.ranks

    @property
    def loops(self) -> tuple[RecordedLoop, ...]:
        """The loops, numbered from 1 in the order in which they first ran."""
        numbered = ((number, loop, loop.runs[-1]) for number, loop in enumerate(self.trace.loops, 1))
        return tuple(
            RecordedLoop(number, loop.id, loop.source, last.iterations, len(loop.runs), last.strategy)
            for number, loop, last in numbered
        )

    @cached_property
    def network(self) -> Network:
        """The network among all ranks as measured; the default if no loop was shared."""
        return self._setup.network if self._setup else Network.default()

    @property
    def parameters(self) -> Parameters:
        """The parameters of balancing."""
        return self._setup.start.context.parameters if self._setup else Parameters()

    @cached_property
    def speeds(self) -> tuple[float, ...]:
        """The relative speeds of the ranks' processors without emulation; the fastest has 1."""
        machine, hosts = self.trace.machine, self.trace.host_names
        if self.trace.kind == "run" and len(set(hosts)) == 1:
            return (1.0,) * len(hosts)
        emulated = machine.load.speeds or (1.0,) * len(hosts)
        known_speeds = [speed / slower for speed, slower in zip(machine.weights, emulated, strict=False)]
        usable = known_speeds and all(isfinite(speed) and speed > 0 for speed in known_speeds)
        found = known_speeds if usable else self._measured_speeds()
        return tuple(speed / max(found) for speed in found)

    def machine(self) -> Machine:
        """The machine of the run: speeds, network, groups, and the load that was emulated."""
        setup = self._setup
        groups = setup.groups if setup else default(self.trace.host_names)
        rules = setup.rules if setup else GroupRules()
        return Machine(self.speeds, self.network, self.trace.machine.load, groups, rules)

    def loop(self, number: int = 1, ranks: int | None = None) -> LoopModel:
        """A loop for ``ranks`` ranks, by default as many as were recorded.

        For as many ranks as recorded, each begins with the share that it had; else iterations are dealt in
        turn if they were in the recording, and otherwise in blocks of equal work. ValueError if there is no
        loop of that number, or if nothing was computed in it.
        """
        if not 1 <= number <= len(self.trace.loops):
            there = f"1 to {len(self.trace.loops)}" if self.trace.loops else "none"
            raise ValueError(f"expected the number of a recorded loop ({there}), found {number}")
        return _model(self.trace.loops[number - 1], self.speeds, ranks or self.ranks)

    @property
    def _setup(self) -> AgentSetup | None:
        """The setup of the last run that ranks shared."""
        shared = [run.setup for loop in self.trace.loops for run in loop.runs if run.setup is not None]
        return shared[-1] if shared else None

    def _measured_speeds(self) -> Sequence[float]:
        """For each rank, the work that its host did in a second of computing; the mean if it did none."""
        hosts = self.trace.host_names
        work, seconds = dict.fromkeys(hosts, 0.0), dict.fromkeys(hosts, 0.0)
        for run in (run for loop in self.trace.loops for run in loop.runs if run.setup is not None):
            mean_s = _computing_s(run) / (sum(_work_done(run, rank) for rank in range(len(hosts))) or 1.0)
            for rank, host in enumerate(hosts):
                work[host] += _work_done(run, rank) * mean_s  # of all runs in one unit
                seconds[host] += sum(chunk.computing_s for chunk in run.per_rank[rank].chunks)
        speeds = {host: work[host] / seconds[host] for host in work if work[host] and seconds[host]}
        mean = sum(speeds.values()) / len(speeds) if speeds else 1.0
        return [speeds.get(host, mean) for host in hosts]


def _computing_s(run: RunTrace) -> float:
    return sum(chunk.computing_s for rank in run.per_rank for chunk in rank.chunks)


def _work_done(run: RunTrace, rank: int) -> float:
    """The work that a rank did, in quanta, as the balancer knew it."""
    units, work_table = _dealt(run)
    chunks = run.per_rank[rank].chunks
    if work_table.uniform or units.folded:
        return sum(len(chunk.positions) for chunk in chunks)
    return sum(work_table.of(Spans.of(chunk.positions)) for chunk in chunks)


def _dealt(run: RunTrace) -> tuple[Units, WorkTable]:
    """The units that were dealt, and their work."""
    if run.setup is None:
        return Units(0, run.iterations), UNIFORM
    context = run.setup.start.context
    return context.units, context.work_table


def _model(loop: LoopTrace, speeds: Sequence[float], ranks: int) -> LoopModel:
    """A loop by its runs with as many iterations as the last run that computed anything."""
    computed = [run for run in loop.runs if _computing_s(run) > 0]
    if not computed:
        raise ValueError(f"{loop.source}: nothing is recorded of its iterations")
    n = computed[-1].iterations
    alike = [run for run in computed if run.iterations == n]
    size = max(1, -(-n // MAX_ITERATIONS))
    seconds = tuple(_seconds(alike, n, size, speeds).tolist())
    shared = [run.setup for run in alike if run.setup is not None and not run.setup.start.context.units.first]
    if not shared:
        return LoopModel(len(seconds), seconds)
    context, shares = shared[-1].start.context, shared[-1].start.shares
    bytes_each = context.unit_bytes / (2 if context.units.folded else 1)
    dealt_all = sum(map(len, shares)) == len(context.units)  # a pool deals only first chunks
    if len(shares) != ranks or not dealt_all:
        in_turn = any(run.step > 1 for share in shares for run in share.runs)
        shares = _shares(context.units, context.work_table, ranks, in_turn)
    folded, work_table = context.units.folded, context.work_table
    model = LoopModel(len(seconds), seconds, folded, work_table, bytes_each * size, shares)
    return model if size == 1 else _grouped(model, size, ranks)


def _seconds(runs: Sequence[RunTrace], n: int, size: int, speeds: Sequence[float]) -> Seconds:
    """Seconds of each group of ``size`` iterations at speed 1; the mean for groups not recorded."""
    total, times = np.zeros(-(-n // size)), np.zeros(-(-n // size))
    for run in runs:
        for rank, recorded in enumerate(run.per_rank):
            for chunk in recorded.chunks:
                _add(total, times, chunk, speeds[rank], size)
    seen = times > 0
    total[seen] /= times[seen]
    total[~seen] = total[seen].mean()
    total[:-1] *= size
    total[-1] *= n - size * (len(total) - 1)
    return total


def _add(total: Seconds, times: Seconds, chunk: Chunk, speed: float, size: int) -> None:
    """Count a chunk's iterations in the groups that they are in, and their time."""
    place = chunk.positions
    low, high = place.start // size, place[-1] // size + 1
    edges = np.arange(low, high + 1) * size
    below = -(-(edges - place.start) // place.step)  # the number of positions below each edge
    counts: Seconds = np.diff(np.clip(below, 0, len(place)).astype(np.float64))
    total[low:high] += counts * (chunk.computing_s * speed / len(place))
    times[low:high] += counts


def _shares(units: Units, work_table: WorkTable, ranks: int, in_turn: bool) -> tuple[Spans, ...]:
    """The units dealt in turn, or in blocks of equal work; () means equal blocks."""
    if in_turn:
        return cyclic(len(units), ranks)
    if work_table.uniform:
        return ()
    rest, shares = units.all, []
    for left in range(ranks, 0, -1):
        share, rest = work_table.first(rest, work_table.of(rest) // left) if left > 1 else (rest, rest)
        shares.append(share)
    return tuple(shares)


def _grouped(model: LoopModel, size: int, ranks: int) -> LoopModel:
    """The model with work and shares of groups of ``size`` iterations in place of single iterations."""
    units, work_table = model.units, model.work_table
    if not work_table.uniform:
        edges = range(len(units) + 1)
        quanta = tuple(work_table.before(min(edge * size, work_table.edges[-1])) for edge in edges)
        work_table = WorkTable(tuple(edges), quanta)
    in_turn = any(run.step > 1 for share in model.shares for run in share.runs)
    return replace(model, work_table=work_table, shares=_shares(units, work_table, ranks, in_turn))
