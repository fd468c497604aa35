"""The cost of iterations as a kernel states it; `dlbrt.partition.costs` evaluates it.

Every kernel has a `CostSpec`, most of them an empty one, so that a program starts without the evaluating
modules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dlbrt.records import dataclass


class CostError(ValueError):
    """A cost by which work cannot be divided; the sentence says what was found and where."""


@dataclass(frozen=True, slots=True)
class CostSpec:
    """The work of a kernel's iterations, in any unit: at most one of four forms, else ValueError.

    ``density``: a number, or a function of the index variable that takes vectors if it can; ``each``: maps
    items of the loop to the list of their works; ``cumulative``: t(x), x a value of the index variable or
    between two; ``fit``: returns pairs (x, t) or a mapping from x to t, where t is the time of all iterations
    with values below x. NumPy's narrow numbers that they read are widened (`cost_values.widened`).
    """

    density: Callable[[Any], Any] | float | None = None
    each: Callable[[Iterable[Any]], Sequence[Any]] | None = None
    cumulative: Callable[[Any], Any] | None = None
    fit: Callable[[], Any] | None = None

    def __post_init__(self) -> None:
        given = [form for form in (self.density, self.each, self.cumulative, self.fit) if form is not None]
        if len(given) > 1:
            raise ValueError(f"expected one form of cost, found {len(given)}")
