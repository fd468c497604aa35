"""A loop that can be simulated, wherever what is known of it comes from: a program, or a recorded run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from dlbrt.core.parameters import Parameters
from dlbrt.records import dataclass
from dlbrt.sim.description import NetworkDescription
from dlbrt.sim.machine import LoopModel, Machine

__all__ = ["SimulatedLoop"]


@dataclass(frozen=True, slots=True)
class SimulatedLoop:
    """Where it stands (``file.py:12``), its ``number`` there, notes for people, a model for so many ranks.

    ``group`` is the size of the groups that its clause asks for. A recorded one was run on ``machine``, with
    the ``parameters`` of balancing; the ``network`` is that of machines that are not described.
    ``bytes_assumed``: what moves with an iteration is not wholly known.
    """

    source: str
    number: int
    notes: tuple[str, ...]
    model: Callable[[int], LoopModel]
    group: int | None = None
    machine: Machine | None = None
    network: NetworkDescription = field(default_factory=NetworkDescription)
    parameters: Parameters | None = None
    bytes_assumed: bool = False

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.source}, loop {self.number}"
