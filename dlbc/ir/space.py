"""The values of the loop's index as the dependence test sees them."""

from __future__ import annotations

from dlbrt.records import dataclass

from dlbc.ir.form import Condition, IntegerForm, Variable, VariableKind

__all__ = ["IndexSpace"]


@dataclass(frozen=True)
class IndexSpace:
    """``range(start, stop, step)`` of the variable ``name``; None where not known.

    ``pace`` is the step where it is no literal. ``facts`` hold of names from before the loop; ``known`` says
    that the index takes these values exactly; ``reverse`` that it does so from the last to the first.
    """

    name: str
    start: IntegerForm | None
    stop: IntegerForm | None
    step: int | None
    context: tuple[Condition, ...] = ()
    exact: bool = True
    symbolic_step: IntegerForm | None = None
    reverse: bool = False

    @property
    def index(self) -> Variable:
        """The index."""
        return Variable(VariableKind.INDEX, self.name)

    @property
    def stride(self) -> int:
        """What every distance between iterations is a multiple of."""
        return abs(self.step or 1)
