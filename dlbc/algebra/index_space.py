"""The values that the index of a loop takes, in the order of its iterations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dlbrt.records import dataclass

from dlbc.algebra.integer_form import Condition, IntegerForm, Variable, VariableKind, replaced_in


@dataclass(frozen=True)
class IndexSpace:
    """``range(start, stop, step)`` of the index ``name``; parts that are not known are None.

    ``symbolic_step``: a step that is not a literal. ``context``: what is known of names from before the loop.
    ``exact``: the index takes exactly these values. ``reverse``: it takes them from the last to the first.
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
        """The index as a variable."""
        return Variable(VariableKind.INDEX, self.name)

    def replaced(self, change: Callable[[Variable], IntegerForm]) -> IndexSpace:
        """The space with every variable replaced."""
        start, stop, step = (
            None if form is None else form.replaced(change)
            for form in (self.start, self.stop, self.symbolic_step)
        )
        literal = None if step is None else step.constant
        return replace(
            self,
            start=start,
            stop=stop,
            step=literal or self.step,
            context=tuple(replaced_in(fact, change) for fact in self.context),
            exact=self.exact or bool(literal and start is not None and stop is not None),
            symbolic_step=None if literal else step,
        )

    @property
    def stride(self) -> int:
        """Every distance between two iterations is a multiple of this."""
        return abs(self.step or 1)
