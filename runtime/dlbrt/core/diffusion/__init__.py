"""Parabolic load balancing: work diffuses between neighbours on a mesh until all have the same.

Heirich and Taylor, "A Parabolic Load Balancing Method" (Caltech CS-TR-94-13, 1994). `relaxation` is one
step, with its inner iterations and the sizes for which it is stable; `scales` says which steps follow one
another; `modes` how long disturbances last. `mesh` is who is whose neighbour, `lattice` the arrays on it.
`divisible` balances work that is as fine as sand, `units` whole units; `chain` says which units travel so
that blocks stay whole, `giving` which vertices of a domain that is a graph (`domain`). `uneven` is a step
among ranks of different speeds, as one of them takes its part; `paced` the same of all of them at once. Pure,
as all of the core.
"""

from dlbrt.core.diffusion.chain import Exchange, Piece, Round, exchange, planned_flows
from dlbrt.core.diffusion.divisible import Diffusion, discrepancy
from dlbrt.core.diffusion.domain import Domain, Parts
from dlbrt.core.diffusion.giving import follow, give
from dlbrt.core.diffusion.mesh import Boundary, Mesh, factored
from dlbrt.core.diffusion.modes import slowest_rate, tau, tau_slowest
from dlbrt.core.diffusion.paced import PacedDiffusion
from dlbrt.core.diffusion.relaxation import Step, alpha_limit, inner_iterations, safe_iterations
from dlbrt.core.diffusion.scales import Schedule, two_scales
from dlbrt.core.diffusion.uneven import Carry, Local, flux, granted
from dlbrt.core.diffusion.units import UnitDiffusion

__all__ = [
    "Boundary",
    "Carry",
    "Diffusion",
    "Domain",
    "Exchange",
    "Local",
    "Mesh",
    "PacedDiffusion",
    "Parts",
    "Piece",
    "Round",
    "Schedule",
    "Step",
    "UnitDiffusion",
    "alpha_limit",
    "discrepancy",
    "exchange",
    "factored",
    "flux",
    "follow",
    "give",
    "granted",
    "inner_iterations",
    "planned_flows",
    "safe_iterations",
    "slowest_rate",
    "tau",
    "tau_slowest",
    "two_scales",
]
