"""A trace with all that a report may show: a whole program, a loop of unequal costs, a routine."""

from __future__ import annotations

from dataclasses import replace

from dlbrt.balance.strategies import AUTO
from dlbrt.emulation import LoadSpec
from dlbrt.observe.trace import Trace, TracedProgram
from dlbrt.predict.groups import blocks
from dlbrt.sim.compare import simulate_strategy
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.replay import setup_of, trace_of
from papers.zaki.network import ethernet

WHERE = Machine((1.0,) * 4, ethernet(), LoadSpec(levels=(0, 3, 0, 1)), blocks(4, 2))
WHAT = LoopModel(200, tuple(0.02 + 1e-4 * k for k in range(200)), iteration_bytes=800)


def program_trace(source: str = "prog.py:3", host: str = "h") -> Trace:
    outcome = simulate_strategy(WHERE, WHAT, AUTO, traced=True)
    made = trace_of(outcome, WHERE, WHAT, setup_of(WHERE, WHAT, AUTO), source, (host,) * 4)
    looks = [
        {"passes": 1, "rows": [50, 50, 60, 40], "seconds": [0.1, 0.2, 0.1, 0.3], "imbalance": 1.0,
         "reason": source, "shares": [50, 50, 60, 40], "moved": 3, "predicted_s": 0.2},
        {"passes": 2, "rows": [60, 40, 70, 30], "seconds": [0.1, 0.1, 0.1, 0.1], "imbalance": 0.0,
         "reason": "kept", "shares": [60, 40, 70, 30], "moved": 0, "predicted_s": None},
    ]  # fmt: skip
    points = {"units": [50, 60], "units_per_s": [500.0, 600.0]}
    functions = [{"loop": "1", "model": "piecewise", "per_rank": [points] * 4}]
    routine = {"source": source, "loops": ["1"], "by_pass": looks, "speed_functions": functions}
    took = max(entry.event.now for rank in made.loops[0].runs[0].per_rank for entry in rank.entries)
    audit = {
        "seconds": {"runs": 1, "predicted": 1.84, "measured": 1.9, "difference": 0.0326},
        "imbalance": {"predicted": 12.0, "measured": 3.0, "difference": -0.75},
        "bytes_moved": {"predicted": 800.0, "measured": 1000.0, "difference": 0.25},
    }
    loop = {"id": made.loops[0].id, "elapsed_s": took + 0.25, "audit": audit}
    known = {"routines": [routine], "loops": [loop]}
    program = TracedProgram(f"dlbc run {source}", "2026-01-02T03:04:05+01:00", 0.0, 0.5, took + 1, 0.1, known)
    first = replace(made.loops[0].runs[0], started=0.0, elapsed_s=took, interpreted=source)
    return replace(made, kind="run", program=program, loops=(replace(made.loops[0], runs=(first,)),))
