"""How the iterations of one run of a loop are dealt at its start; the same on every rank."""

from __future__ import annotations

from dlbrt.dist.amounts import UNIFORM, WorkTable
from dlbrt.dist.spans import Spans
from dlbrt.dist.units import Units
from dlbrt.records import dataclass

__all__ = ["InitialPartition"]


@dataclass(frozen=True, slots=True)
class InitialPartition:
    """What is dealt (``units``), which of them each rank begins with, and how much work they are."""

    units: Units
    shares: tuple[Spans, ...]
    work_table: WorkTable = UNIFORM
