"""What a program says of the cost of iterations, as it is said; `dlbrt.partition.costs` evaluates it.

Every loop says it, most of them nothing, so that a program starts without what evaluates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dlbrt.records import dataclass


class CostError(ValueError):
    """A cost by which work cannot be divided: a sentence that says what was found and where."""


@dataclass(frozen=True, slots=True)
class CostSpec:
    """What the kernel says of the work of its iterations: at most one of four forms, else ValueError.

    ``density``: a number, or a function of the index variable that takes vectors where it can;
    ``each``: from some items of the loop to the list of their works; ``cumulative``: t(x), x a value of the
    index variable or between two; ``fit``: gives pairs (x, t) or a mapping from x to t, the time t that
    iterations with values below x take. The unit is any. Numbers of NumPy's narrow types that they read are
    widened for them (`widening`).
    """

    density: Callable[[Any], Any] | float | None = None
    each: Callable[[Iterable[Any]], Sequence[Any]] | None = None
    cumulative: Callable[[Any], Any] | None = None
    fit: Callable[[], Any] | None = None

    def __post_init__(self) -> None:
        given = [form for form in (self.density, self.each, self.cumulative, self.fit) if form is not None]
        if len(given) > 1:
            raise ValueError(f"expected one form of cost, found {len(given)}")
