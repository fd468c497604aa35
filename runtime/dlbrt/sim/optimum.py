"""What no balancing could beat: all work over the whole effective speed.

The clairvoyant optimum knows every load to come, divides work without limit, and pays for nothing.
"""

from __future__ import annotations

from dlbrt.sim.machine import LoopModel, Machine

__all__ = ["clairvoyant_s"]

_HALVINGS = 60


def clairvoyant_s(machine: Machine, loop: LoopModel) -> float:
    """When all ranks together can have done all iterations, in seconds."""
    courses, work_s = machine.courses(), loop.costs().of(loop.units.all)
    low = 0.0
    high = min(course.when(work_s) for course in courses)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        enough = sum(course.done(middle) for course in courses) >= work_s
        low, high = (low, middle) if enough else (middle, high)
    return high
