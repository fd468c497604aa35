"""What was simulated, for people and as JSON: a block for each number of ranks, its strategies by time."""

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


@dataclass(frozen=True, slots=True)
class MachineResult:
    """A machine, the loop on it, and the strategies, the fastest first."""

    machine: Machine
    loop: LoopModel
    played: tuple[StrategyOutcomes, ...]


def as_text(described: SimulatedLoop, blocks: Sequence[MachineResult], notes: Sequence[str]) -> str:
    """The tables, after what was simulated."""
    lines = [described.name, *(f"    {note}" for note in (*described.notes, *notes))]
    for block in blocks:
        lines += ["", *_block(block)]
    return "\n".join(lines)


def _block(block: MachineResult) -> Iterator[str]:
    ranks, seeds = block.machine.ranks, len(block.played[0].outcomes)
    least = block.played[0].optimum_s
    over = "" if seeds == 1 else f", medians over {seeds} loads"
    yield f"{ranks} rank{'s' * (ranks != 1)}{over}; no strategy can take less than {_seconds(least)}"
    heads = [*_HEADS, *(["range of makespans"] if seeds > 1 else [])]
    rows = [heads, *([*_row(played)] for played in block.played)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    for name, *cells in rows:
        right = (f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))
        yield f"    {name:{widths[0]}}  {'  '.join(right)}"


def _row(played: StrategyOutcomes) -> Iterator[str]:
    chose = played.chosen if played.strategy == AUTO else ()
    yield f"{played.strategy} ({', '.join(chose)})" if chose else played.strategy
    yield _seconds(played.makespan_s)
    yield "-" if played.over_optimum is None else f"{played.over_optimum:.3f}"
    yield "-" if played.efficiency is None else f"{played.efficiency:.1%}"
    for figure in ("synchronizations", "redistributions", "moved"):
        yield f"{played.median_of(figure):g}"
    if len(played.outcomes) > 1:
        yield f"{_seconds(min(played.makespans_s))} to {_seconds(max(played.makespans_s))}"


def _seconds(seconds: float) -> str:
    if seconds >= 1 or not seconds:
        return f"{seconds:#.4g} s"
    return f"{seconds * 1e3:#.4g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:#.4g} us"


def as_json(described: SimulatedLoop, blocks: Sequence[MachineResult], notes: Sequence[str]) -> str:
    """The same for tools, and more of each load."""
    told = {
        "version": 1,
        "loop": described.name,
        "notes": [*described.notes, *notes],
        "cases": [_case(described, block) for block in blocks],
    }
    return json.dumps(told, indent=2)


def _case(described: SimulatedLoop, block: MachineResult) -> dict[str, Any]:
    machine, loop = block.machine, block.loop
    network = machine.network
    return {
        "ranks": machine.ranks,
        "iterations": loop.n,
        "iteration_bytes": loop.iteration_bytes,
        "bytes_assumed": described.bytes_assumed,
        "folded": loop.folded,
        "groups": [len(group) for group in machine.groups],
        "network": {
            "latency_s": network.latency_s,
            "bandwidth": network.bandwidth,
            "switch_s": network.switch_s,
            **{f"{name}_s": getattr(network, name).seconds(machine.ranks) for name in PATTERNS},
        },
        "work_s": block.played[0].work_s,
        "optima_s": block.played[0].optima_s,
        "strategies": [_strategy(played) for played in block.played],
    }


def _strategy(played: StrategyOutcomes) -> dict[str, Any]:
    return {
        "strategy": played.strategy,
        "became": played.chosen,
        "makespan_s": played.makespan_s,
        "over_optimum": played.over_optimum,
        "efficiency": played.efficiency,
        "synchronizations": played.median_of("synchronizations"),
        "redistributions": played.median_of("redistributions"),
        "moved": played.median_of("moved"),
        "makespans_s": played.makespans_s,
    }
