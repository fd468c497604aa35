"""A run for pictures: simulated, so that the same trace is made everywhere."""

from __future__ import annotations

from dataclasses import replace

from dlbrt.emulation import LoadSpec
from dlbrt.observe.trace import Trace, TracedProgram
from dlbrt.predict.groups import blocks
from dlbrt.predict.network import Network
from dlbrt.sim.compare import simulate_strategy
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.replay import setup_of, trace_of

#: Four ranks, the second with twice its work's time for load; rows in the middle cost 30-fold more.
MACHINE = Machine((1.0,) * 4, Network.default(), LoadSpec(levels=(0, 1, 0, 0)), blocks(4, 2))
ROWS = 360
LOOP = LoopModel(
    ROWS, tuple(2e-3 * (1 + 29 * max(0.0, 1 - abs(k - 180) / 60)) for k in range(ROWS)), iteration_bytes=3840
)


def example(strategy: str = "GDDLB") -> Trace:
    """The trace of the loop under a strategy, in a program that does something before and after it."""
    outcome = simulate_strategy(MACHINE, LOOP, strategy, traced=True)
    made = trace_of(
        outcome,
        MACHINE,
        LOOP,
        setup_of(MACHINE, LOOP, strategy),
        "picture.py:17",
        ("node1",) * 2 + ("node2",) * 2,
    )
    [loop], took = made.loops, outcome.makespan_s
    run = replace(loop.runs[0], started=0.4, elapsed_s=took + 0.1)
    offsets = (-0.45,) * 4
    command = f"dlbc run -n 4 --strategy {strategy} --trace picture.json picture.py 480 360"
    program = TracedProgram(command, "2026-11-26T10:00:00+00:00", 0.0, 0.6, took + 0.7, 0.0, {})
    return replace(made, kind="run", offsets_s=offsets, program=program, loops=(replace(loop, runs=(run,)),))
