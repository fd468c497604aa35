"""dlbrt: the runtime that generated programs import.

    from mpi4py import MPI
    import dlbrt
    from dlbrt import BLOCK, WHOLE

    dlb = dlbrt.start(MPI.COMM_WORLD)

A program written for MPI balances a loop by `balanced`:

    for i in dlbrt.balanced(range(n), rows=[A], results=[B]):
        B[i] = f(A[i])

`start` and `balanced` import the MPI driver; importing this package alone does not. `BLOCK`, `CYCLIC` and
`WHOLE` say how an array is distributed, `REDUCE`, `ELEMENTS`, `SELECT`, `LAST` how iterations contribute to a
value; `enumerate`, `reversed` and `zip` do what the built-in functions do, and keep the positions of items
known. All of these are imported on first use, so that `dlbc`, which shares modules with the runtime, starts
without numpy.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from dlbrt.contract import VERSION as __version__
from dlbrt.standard_library import import_apart, keep_apart

if TYPE_CHECKING:
    from dlbrt.data.array_table import BLOCK, CYCLIC, WHOLE
    from dlbrt.data.space import enumerate_ as enumerate
    from dlbrt.data.space import reversed_ as reversed
    from dlbrt.data.space import zip_ as zip
    from dlbrt.mpi.balanced import LeftEarlyError, balanced
    from dlbrt.mpi.session import Session
    from dlbrt.reductions.kinds import ELEMENTS, LAST, REDUCE, SELECT

__all__ = ["BLOCK", "CYCLIC", "ELEMENTS", "LAST", "REDUCE", "SELECT", "WHOLE", "LeftEarlyError",
           "__version__", "balanced", "enumerate", "reversed", "start", "zip"]  # fmt: skip

#: The module of each public name, and its name there.
_PLACES = {
    **{name: ("dlbrt.data.space", f"{name}_") for name in ("enumerate", "reversed", "zip")},
    **{name: ("dlbrt.data.array_table", name) for name in ("BLOCK", "CYCLIC", "WHOLE")},
    **{name: ("dlbrt.mpi.balanced", name) for name in ("LeftEarlyError", "balanced")},
    **{name: ("dlbrt.reductions.kinds", name) for name in ("ELEMENTS", "LAST", "REDUCE", "SELECT")},
}


keep_apart()


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, own = _PLACES[name]
    return getattr(import_apart(module), own)


def start(world: Any) -> Session:
    """Start the runtime on all ranks of an MPI communicator; returns the session, ``dlb``, on rank 0 alone.

    The other ranks serve its loops until rank 0 ends, and then end. See `dlbrt.mpi.session.start`.
    """
    keep_apart()
    from dlbrt.mpi.session import start as start_session

    caller = sys._getframe(1)
    return start_session(world, None if caller.f_globals.get("__name__") == "__main__" else caller)
