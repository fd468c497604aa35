"""dlbrt: the runtime that generated programs import.

    from mpi4py import MPI
    import dlbrt
    from dlbrt import BLOCK, WHOLE

    dlb = dlbrt.start(MPI.COMM_WORLD)

`start` brings in the MPI driver; importing this package alone does not. `BLOCK`, `CYCLIC` and `WHOLE` say how
an array is distributed, `REDUCE`, `ELEMENTS` and `SELECT` how iterations contribute to a value; `enumerate`,
`reversed` and `zip` do what the built-in functions do, and keep the positions of items known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dlbrt.contract import VERSION as __version__
from dlbrt.dist.space import enumerate_ as enumerate
from dlbrt.dist.space import reversed_ as reversed
from dlbrt.dist.space import zip_ as zip
from dlbrt.dist.spec import BLOCK, CYCLIC, WHOLE
from dlbrt.effects.kinds import ELEMENTS, REDUCE, SELECT

if TYPE_CHECKING:
    from dlbrt.mpi.session import Session

__all__ = ["BLOCK", "CYCLIC", "ELEMENTS", "REDUCE", "SELECT", "WHOLE", "__version__", "enumerate", "reversed",
           "start", "zip"]  # fmt: skip


def start(world: Any) -> Session:
    """Start the runtime on all ranks of an MPI communicator; see `dlbrt.mpi.session.start`."""
    from dlbrt.mpi.session import start as start_session

    return start_session(world)
