"""Heirich and Taylor, "A Parabolic Load Balancing Method" (Caltech CS-TR-94-13, 1994), on meshes and graphs.

`relaxation` is one step, with its inner iterations and the sizes for which it is stable; `scales` says which
steps follow one another; `modes` how long disturbances last. `mesh` is who is whose neighbour, `lattice` the
arrays on it. `divisible` balances work that is as fine as sand, `units` whole units; `chain` says which units
travel so that blocks stay whole, `giving` which vertices of a domain that is a graph (`domain`). `paced` is
the step of `dlbrt.diffusion.uneven`, among processors of different speeds, of all of them at once.

The other modules are the paper's experiments, which `chapter` shows (docs/papers.md).
"""

from papers.heirich.chain import ChainExchange, Piece, Round, exchange, planned_flows
from papers.heirich.divisible import Diffusion, discrepancy
from papers.heirich.domain import GraphDomain, Parts
from papers.heirich.giving import follow, give
from papers.heirich.mesh import Boundary, Mesh, factored
from papers.heirich.modes import slowest_rate, tau, tau_slowest
from papers.heirich.paced import HeterogeneousDiffusion
from papers.heirich.relaxation import DiffusionStep, alpha_limit, inner_iterations, safe_iterations
from papers.heirich.scales import Schedule, two_scales
from papers.heirich.units import UnitDiffusion

__all__ = [
    "Boundary",
    "ChainExchange",
    "Diffusion",
    "DiffusionStep",
    "GraphDomain",
    "HeterogeneousDiffusion",
    "Mesh",
    "Parts",
    "Piece",
    "Round",
    "Schedule",
    "UnitDiffusion",
    "alpha_limit",
    "discrepancy",
    "exchange",
    "factored",
    "follow",
    "give",
    "inner_iterations",
    "planned_flows",
    "safe_iterations",
    "slowest_rate",
    "tau",
    "tau_slowest",
    "two_scales",
]
