"""What every variable of a loop is to its iterations: the class that says how its value travels."""

from __future__ import annotations

from enum import Enum

from dlbrt.records import dataclass

__all__ = ["ClassifiedVariable", "VariableClass"]


class VariableClass(Enum):
    """The classes of variables; each variable of a planned loop is of one of them."""

    LOOP = "loop"
    DISTRIBUTED = "distributed"
    BROADCAST = "broadcast"
    REDUCTION = "reduction"
    ORDERED = "ordered container"
    PRIVATE = "private"
    LASTPRIVATE = "last value"


@dataclass(frozen=True, slots=True)
class ClassifiedVariable:
    """One variable, or one array of the table (``self.A``).

    Of what is distributed, ``axis`` is dealt, an iteration reaches ``below`` rows before the one that it owns
    and ``above`` rows after it, and ``fixed`` are rows that all iterations read. ``whole``: every rank gets
    all of an array, rather than a value. ``operator`` combines a reduction, ``of`` is the one it goes with.
    ``live``: the last value of a loop variable is read after the loop.
    """

    name: str
    variable_class: VariableClass
    axis: int | None = None
    halo_below: int = 0
    halo_above: int = 0
    rows_of_all: tuple[str, ...] = ()
    whole_array: bool = False
    live: bool = False
    operator: str = ""
    companion_of: str = ""
