"""The parsed `# dlb:` comment, before anything is known of the loop."""

from __future__ import annotations

from enum import Enum

from dlbrt.contract import Distribution
from dlbrt.records import dataclass

from dlbc.source import SourcePlace


class AnnotationKind(Enum):
    """The two kinds of annotated loop."""

    PARALLEL = "parallel"
    ITERATE = "iterate"


@dataclass(frozen=True, slots=True)
class ArrayClause:
    """``BLOCK`` / ``CYCLIC`` / ``WHOLE``; without arrays it is the loop's default."""

    distribution: Distribution
    arrays: tuple[str, ...]
    axis: int | None
    place: SourcePlace


@dataclass(frozen=True, slots=True)
class ReductionClause:
    """``reduction(s, hist, order=any)``."""

    names: tuple[str, ...]
    any_order: bool
    place: SourcePlace


@dataclass(frozen=True, slots=True)
class NameClause:
    """A clause that lists names: ``private(t)``."""

    names: tuple[str, ...]
    place: SourcePlace


@dataclass(frozen=True, slots=True)
class ScheduleClause:
    """``schedule(NAME, group=K)``."""

    strategy: str
    group: int | None
    place: SourcePlace


class CostForm(Enum):
    """What the expression of a cost clause describes; the value is its keyword in the clause."""

    DENSITY = ""
    CUMULATIVE = "cumulative"
    FIT = "fit"


@dataclass(frozen=True, slots=True)
class CostClause:
    """``cost(EXPR)``, ``cost(cumulative=EXPR)`` or ``cost(fit=EXPR)``, the expression as text."""

    expression: str
    form: CostForm
    place: SourcePlace

    @property
    def written(self) -> str:
        """The clause without its expression, for messages."""
        return f"cost({self.form.value}=...)" if self.form.value else "cost(...)"


@dataclass(frozen=True, slots=True)
class ProfileClause:
    """``profile(group=5, every=10, threshold=0.10)``."""

    group: int
    every: int
    threshold: float
    place: SourcePlace


@dataclass(frozen=True, slots=True)
class JitClause:
    """``jit`` or ``jit(as_written)``, which leaves the order of the loops alone."""

    as_written: bool
    place: SourcePlace


@dataclass(frozen=True, slots=True)
class IterateClause:
    """The clauses of ``iterate``; without ``checkpoint`` no copies are kept."""

    model: str
    tolerance: float
    every: int
    checkpoint: int | None = None


@dataclass(frozen=True, slots=True)
class Annotation:
    """The clauses of one loop, complete and free of contradictions among themselves."""

    kind: AnnotationKind
    place: SourcePlace
    distributions: tuple[ArrayClause, ...] = ()
    reductions: tuple[ReductionClause, ...] = ()
    private: tuple[NameClause, ...] = ()
    schedule: ScheduleClause | None = None
    cost: CostClause | None = None
    profile: ProfileClause | None = None
    fold: SourcePlace | None = None
    nofold: SourcePlace | None = None
    jit: JitClause | None = None
    assume_independent: SourcePlace | None = None
    iterate: IterateClause | None = None

    @property
    def private_names(self) -> frozenset[str]:
        """The names of all `private` clauses."""
        return frozenset(name for clause in self.private for name in clause.names)
