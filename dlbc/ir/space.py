"""The values of the loop's index as the dependence test sees them."""

from __future__ import annotations

from dlbrt.records import dataclass

from dlbc.ir.form import Condition, Form, Kind, Variable

__all__ = ["IndexSpace"]


@dataclass(frozen=True)
class IndexSpace:
    """``range(start, stop, step)`` of the variable ``name``; None where not known.

    ``pace`` is the step where it is no literal. ``facts`` hold of names from before the loop; ``known`` says
    that the index takes these values exactly; ``reverse`` that it does so from the last to the first.
    """

    name: str
    start: Form | None
    stop: Form | None
    step: int | None
    facts: tuple[Condition, ...] = ()
    known: bool = True
    pace: Form | None = None
    reverse: bool = False

    @property
    def index(self) -> Variable:
        """The index."""
        return Variable(Kind.INDEX, self.name)

    @property
    def stride(self) -> int:
        """What every distance between iterations is a multiple of."""
        return abs(self.step or 1)
