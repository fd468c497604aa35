"""What no balancing could beat: all work over the whole effective speed.

The clairvoyant optimum knows every load to come, divides work without limit, and pays for nothing.
"""

from __future__ import annotations

from dlbrt.sim.machine import LoopModel, Machine

__all__ = ["clairvoyant_s"]

_HALVINGS = 60


def clairvoyant_s(machine: Machine, loop: LoopModel) -> float:
    """When all ranks together can have done all iterations, in seconds."""
    processors, work_s = machine.processors(), loop.costs().of(loop.units.all)
    low = 0.0
    high = min(processor.when(work_s) for processor in processors)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        enough = sum(processor.done(middle) for processor in processors) >= work_s
        low, high = (low, middle) if enough else (middle, high)
    return high
