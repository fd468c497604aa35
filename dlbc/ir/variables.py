"""What every variable of a loop is to its iterations: the class that says how its value travels."""

from __future__ import annotations

from enum import Enum

from dlbrt.records import dataclass

__all__ = ["LoopVariable", "Role"]


class Role(Enum):
    """The classes of variables; each variable of a planned loop is of one of them."""

    LOOP = "loop"
    DISTRIBUTED = "distributed"
    BROADCAST = "broadcast"
    REDUCTION = "reduction"
    ORDERED = "ordered container"
    PRIVATE = "private"
    LAST = "last value"


@dataclass(frozen=True, slots=True)
class LoopVariable:
    """One variable, or one array of the table (``self.A``).

    Of what is distributed, ``axis`` is dealt, an iteration reaches ``below`` rows before the one that it owns
    and ``above`` rows after it, and ``fixed`` are rows that all iterations read. ``whole``: every rank gets
    all of an array, rather than a value. ``operator`` combines a reduction, ``of`` is the one it goes with.
    ``live``: the last value of a loop variable is read after the loop.
    """

    name: str
    role: Role
    axis: int | None = None
    below: int = 0
    above: int = 0
    fixed: tuple[str, ...] = ()
    whole: bool = False
    live: bool = False
    operator: str = ""
    of: str = ""
