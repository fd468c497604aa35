"""The note on an exception of a loop's body: which iteration, and which rank.

The sequential program shows neither; on several ranks it is what one asks first.
"""

from __future__ import annotations

import dis
from collections.abc import Callable, Iterator

from dlbrt.dist.space import Space
from dlbrt.mpi.failure import Failure

__all__ = ["note"]


def note(kernel: Callable[..., None], space: Space, failure: Failure, place: str, ranks: int) -> str:
    """Such as ``in iteration i=17 of the loop at prog.py:12, on rank 2 of 4``.

    Where the loop has no counting variable the iteration is given by its number, from 0.
    """
    iteration = str(failure.position)
    if space.index is not None:
        iteration = f"{_counter(kernel)}={space.index.value(failure.position)}"
    return f"in iteration {iteration} of the loop at {place}, on rank {failure.rank} of {ranks}"


def _counter(kernel: Callable[..., None]) -> str:
    """The first name that the kernel's ``for`` over the iterations binds."""
    code = _from_loop(dis.get_instructions(kernel))
    for instruction in code:
        if instruction.opname.startswith("STORE_"):
            name = instruction.argval[0] if isinstance(instruction.argval, tuple) else instruction.argval
            return str(name)
    return "index"


def _from_loop(code: Iterator[dis.Instruction]) -> Iterator[dis.Instruction]:
    for instruction in code:
        if instruction.argval == "iterations":
            break
    for instruction in code:
        if instruction.opname == "FOR_ITER":
            break
    return code
