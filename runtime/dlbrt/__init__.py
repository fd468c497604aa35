"""dlbrt: the runtime that generated programs import.

    from mpi4py import MPI
    import dlbrt
    from dlbrt import BLOCK, WHOLE

    dlb = dlbrt.start(MPI.COMM_WORLD)

`start` brings in the MPI driver; importing this package alone does not. Distributions and iterables are
imported when they are asked for, so that `dlbc`, which shares a module with the runtime, starts
without numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dlbrt.contract import VERSION as __version__

if TYPE_CHECKING:
    from dlbrt.dist.space import enumerate_ as enumerate
    from dlbrt.dist.space import reversed_ as reversed
    from dlbrt.dist.space import zip_ as zip
    from dlbrt.dist.spec import BLOCK, CYCLIC, WHOLE
    from dlbrt.mpi.session import Session

__all__ = ["BLOCK", "CYCLIC", "WHOLE", "__version__", "enumerate", "reversed", "start", "zip"]

#: In `dlbrt.dist.space`, where they have an underscore behind them, and in `dlbrt.dist.spec`.
_ITERABLES, _DISTRIBUTIONS = ("enumerate", "reversed", "zip"), ("BLOCK", "CYCLIC", "WHOLE")


def __getattr__(name: str) -> Any:
    if name in _ITERABLES:
        from dlbrt.dist import space

        return getattr(space, f"{name}_")
    if name in _DISTRIBUTIONS:
        from dlbrt.dist import spec

        return getattr(spec, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def start(world: Any) -> Session:
    """Start the runtime on all ranks of an MPI communicator; see `dlbrt.mpi.session.start`."""
    from dlbrt.mpi.session import start as start_session

    return start_session(world)
