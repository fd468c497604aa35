"""Functional performance models: how fast each rank is as a function of what it is given, and what follows.

Clarke, Lastovetsky, Rychkov (Parallel Processing Letters, 2011). `points` are what passes measured;
`piecewise` and `akima` make functions of them, which `geometric` and `rootfinding` (through an `arrowhead`)
cut; `models` makes whole units of the cuts and puts these together, `passes` decides after each pass
whether to move. `saved` keeps points between runs. Pure, as all of the core.
"""

from dlbrt.core.speed.model import Model
from dlbrt.core.speed.models import Partition, Solver, SpeedModels
from dlbrt.core.speed.passes import PassBalancer, Reason, Verdict
from dlbrt.core.speed.points import Points
from dlbrt.core.speed.saved import decode, encode

__all__ = [
    "Model",
    "Partition",
    "PassBalancer",
    "Points",
    "Reason",
    "Solver",
    "SpeedModels",
    "Verdict",
    "decode",
    "encode",
]
