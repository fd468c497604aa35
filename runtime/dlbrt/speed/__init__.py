"""Functional performance models: how fast each rank is as a function of what it is given, and what follows.

Clarke, Lastovetsky, Rychkov (Parallel Processing Letters, 2011). `points` are what passes measured;
`piecewise` and `akima` make functions of them, which `geometric` and `rootfinding` (through an `arrowhead`)
cut; `models` makes whole units of the cuts and puts these together, `passes` decides after each pass
whether to move. `saved` keeps points between runs. Pure, as all of the core.
"""

from dlbrt.speed.models import Partition, PartitionMethod, SpeedModels
from dlbrt.speed.pass_balancer import PassBalancer, PassDecision, PassReason
from dlbrt.speed.points import ModelKind, SpeedPoints, decode, encode

__all__ = [
    "ModelKind",
    "Partition",
    "PartitionMethod",
    "PassBalancer",
    "PassDecision",
    "PassReason",
    "SpeedModels",
    "SpeedPoints",
    "decode",
    "encode",
]
