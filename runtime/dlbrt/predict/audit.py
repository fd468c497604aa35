"""A prediction beside what was measured, after the run."""

from __future__ import annotations

from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class AuditedFigure:
    """A figure as it was ``predicted`` and as it was ``measured``, in the same unit."""

    predicted: float
    measured: float

    @property
    def difference(self) -> float | None:
        """By which part more was measured than predicted (less: negative); None if nothing was."""
        return self.measured / self.predicted - 1 if self.predicted > 0 else None

    def __add__(self, other: AuditedFigure) -> AuditedFigure:
        return AuditedFigure(self.predicted + other.predicted, self.measured + other.measured)

    def record(self) -> dict[str, float]:
        """As JSON values; without ``difference`` where there is none."""
        found = {"predicted": self.predicted, "measured": self.measured}
        return found if self.difference is None else found | {"difference": self.difference}


#: What sums of figures begin with.
NOTHING = AuditedFigure(0.0, 0.0)


def percent_more(difference: float | None) -> str:
    """A difference as a signed percentage, such as ``+3 %``; empty if there is none."""
    return "" if difference is None else f"{difference:+.0%}".replace("%", " %")
