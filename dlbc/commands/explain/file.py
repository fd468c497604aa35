"""A file with the remarks on it: on each loop and routine, and what belongs to none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dlbrt.records import dataclass

from dlbc.commands.explain.describe import describe, describe_routine
from dlbc.commands.explain.obstacles import in_the_way
from dlbc.commands.explain.ranks import RankSpec
from dlbc.commands.explain.remarks import Fact, LoopPlaces, Remark, remark_of, remarks_on
from dlbc.commands.verdicts import elsewhere
from dlbc.ir.plan import LoopReport
from dlbc.ir.routine import RoutinePlan
from dlbc.pipeline import ProposalResult, TransformResult
from dlbc.source import Source


@dataclass(frozen=True)
class ExplainedFile:
    """A source, what was found of it, and all remarks; ``ranks`` are those that estimates are for.

    ``others``: the remarks on no annotated loop, those on loops without an annotation among them.
    """

    source: Source
    result: TransformResult
    ranks: RankSpec | None
    loops: tuple[tuple[LoopReport, tuple[Remark, ...]], ...]
    routines: tuple[tuple[RoutinePlan, tuple[Remark, ...]], ...]
    others: tuple[Remark, ...]

    @property
    def remarks(self) -> Sequence[Remark]:
        """All remarks in the order of the source; those at one place in the order of the sections."""
        found = [*self.others]
        for _, remarks in (*self.loops, *self.routines):
            found += remarks
        return sorted(found, key=lambda remark: (remark.place.line, remark.place.column))


def explain_file(
    source: Source,
    result: TransformResult,
    ranks: RankSpec | None = None,
    unannotated: ProposalResult | None = None,
) -> ExplainedFile:
    """The remarks on a file; ``unannotated``: what was found of its loops without an annotation."""
    resident = {ordinal for plan in result.routines for ordinal in plan.loops}
    others = [remark_of(finding, "") for finding in elsewhere(result)]
    others += _unannotated(source, unannotated) if unannotated is not None else ()
    return ExplainedFile(
        source,
        result,
        ranks,
        tuple(
            (report, describe(source, report, ranks, stays=report.loop.ordinal in resident))
            for report in result.reports
        ),
        tuple((plan, describe_routine(source, plan, result.reports, ranks)) for plan in result.routines),
        tuple(others),
    )


def _unannotated(source: Source, found: ProposalResult) -> Iterator[Remark]:
    """The loops that could be annotated, and what is in the way of the others."""
    for report in found.proposed:
        fact = Fact("DLB680", "", "provably parallel, and without an annotation", _ANNOTATE)
        yield from remarks_on("", [fact], LoopPlaces(source, report.loop.node))
    for refused in found.refused:
        obstacle = in_the_way(refused, source)
        hint = f"`dlbc rules {obstacle.code}` explains it" if obstacle.code else ""
        fact = Fact("DLB681", "", f"no annotation is proposed: {obstacle.sentence}", hint, obstacle.place)
        yield from remarks_on("", [fact], LoopPlaces(source, refused.loop.node))


_ANNOTATE = "`dlbc annotate` says whether it is worth it, and writes the annotation"
