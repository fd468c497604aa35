"""The results of a simulation as text and JSON: for each number of ranks, the strategies by makespan."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from dlbrt.balance.strategies import AUTO
from dlbrt.predict.network import PATTERNS
from dlbrt.records import dataclass
from dlbrt.sim.compare import StrategyOutcomes
from dlbrt.sim.machine import LoopModel, Machine

from dlbc.commands.simulate.request import SimulatedLoop

_HEADS = ("strategy", "makespan", "over optimum", "efficiency", "syncs", "redistributions", "moved")
_FIGURES = ("synchronizations", "redistributions", "moved")


@dataclass(frozen=True, slots=True)
class MachineResult:
    """A machine, the loop on it, and the strategies, the fastest first."""

    machine: Machine
    loop: LoopModel
    strategies: tuple[StrategyOutcomes, ...]


def as_text(loop: SimulatedLoop, blocks: Sequence[MachineResult], notes: Sequence[str]) -> str:
    """The notes on the loop, then a table for each machine."""
    lines = [loop.name, *(f"    {note}" for note in (*loop.notes, *notes))]
    for block in blocks:
        lines += ["", *_block(block)]
    return "\n".join(lines)


def _block(block: MachineResult) -> Iterator[str]:
    ranks, seeds = block.machine.ranks, len(block.strategies[0].outcomes)
    least = block.strategies[0].optimum_s
    over = "" if seeds == 1 else f", medians over {seeds} loads"
    yield f"{ranks} rank{'s' * (ranks != 1)}{over}; no strategy can take less than {_seconds(least)}"
    lost = any(simulated.median_of("lost") for simulated in block.strategies)
    heads = [*_HEADS, *(["lost"] if lost else []), *(["range of makespans"] if seeds > 1 else [])]
    rows = [heads, *([*_row(simulated, lost=lost)] for simulated in block.strategies)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    for name, *cells in rows:
        right = (f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))
        yield f"    {name:{widths[0]}}  {'  '.join(right)}"


def _row(simulated: StrategyOutcomes, *, lost: bool) -> Iterator[str]:
    chosen = simulated.chosen if simulated.strategy == AUTO else ()
    yield f"{simulated.strategy} ({', '.join(chosen)})" if chosen else simulated.strategy
    yield _seconds(simulated.makespan_s)
    yield "-" if simulated.over_optimum is None else f"{simulated.over_optimum:.3f}"
    yield "-" if simulated.efficiency is None else f"{simulated.efficiency:.1%}"
    for figure in _FIGURES:
        yield f"{simulated.median_of(figure):g}"
    if lost:
        yield f"{simulated.median_of('lost'):g}"
    if len(simulated.outcomes) > 1:
        yield f"{_seconds(min(simulated.makespans_s))} to {_seconds(max(simulated.makespans_s))}"


def _seconds(seconds: float) -> str:
    if seconds >= 1 or not seconds:
        return f"{seconds:#.4g} s"
    return f"{seconds * 1e3:#.4g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:#.4g} us"


def as_json(loop: SimulatedLoop, blocks: Sequence[MachineResult], notes: Sequence[str]) -> str:
    """The same as JSON, with the makespan under each load."""
    cases = [_case(loop, block) for block in blocks]
    document = {"version": 1, "loop": loop.name, "notes": [*loop.notes, *notes], "cases": cases}
    return json.dumps(document, indent=2)


def _case(simulated: SimulatedLoop, block: MachineResult) -> dict[str, Any]:
    machine, loop = block.machine, block.loop
    network = machine.network
    parameters = {name: getattr(network, name) for name in ("latency_s", "bandwidth", "switch_s")}
    return {
        "ranks": machine.ranks,
        "iterations": loop.n,
        "iteration_bytes": loop.iteration_bytes,
        "bytes_assumed": simulated.bytes_assumed,
        "folded": loop.folded,
        "groups": [len(group) for group in machine.groups],
        "network": parameters
        | {f"{name}_s": getattr(network, name).seconds(machine.ranks) for name in PATTERNS},
        "work_s": block.strategies[0].work_s,
        "optima_s": block.strategies[0].optima_s,
        "strategies": [_strategy(strategy) for strategy in block.strategies],
    }


def _strategy(simulated: StrategyOutcomes) -> dict[str, Any]:
    return {
        "strategy": simulated.strategy,
        "became": simulated.chosen,
        "makespan_s": simulated.makespan_s,
        "over_optimum": simulated.over_optimum,
        "efficiency": simulated.efficiency,
        **{figure: simulated.median_of(figure) for figure in (*_FIGURES, "lost")},
        "makespans_s": simulated.makespans_s,
    }
