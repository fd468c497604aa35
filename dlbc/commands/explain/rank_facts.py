"""What is known of a loop on P ranks, in sentences and for JSON, beside what a run has measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from dlbc.commands.explain.measured import MeasuredEfficiency
from dlbc.commands.explain.movement import Traffic, bytes_text
from dlbc.commands.explain.prediction import seconds_text, shortest_on
from dlbc.commands.explain.ranks import RankAnswer, RankSpec, answer_for, is_uniform, wanted
from dlbc.commands.explain.remarks import Fact
from dlbc.ir.plan import LoopReport

if TYPE_CHECKING:
    from dlbrt.predict.audit import AuditedFigure


def describe_ranks(
    report: LoopReport, ranks: RankSpec, measured: MeasuredEfficiency | None = None, *, stays: bool = False
) -> Iterator[Fact]:
    """Each way to deal the iterations with its efficiency, what moves and takes how long; or why not.

    ``measured``: what a run has measured, to be held against it. ``stays``: arrays stay on the ranks from run
    to run, so what a run moves is not known from the text.
    """
    answer = answer_for(report, ranks, stays)
    if answer.why:
        yield Fact("DLB671", "", answer.why)
        if answer.iterations is None and is_uniform(report) and ranks.weights is None:
            yield _formula(ranks.count)
        return
    for estimate in answer.estimates:
        slowest = f"the slowest rank takes {estimate.largest:.3f} of the ideal time"
        yield Fact("DLB670", estimate.name, f"efficiency {estimate.efficiency:.1%}, {slowest}")
    if answer.within_rows is not None:
        nest = "if the nest is written as one loop over its cells"
        yield Fact("DLB673", "within rows", f"efficiency {answer.within_rows:.1%}, {nest}")
    if answer.fewest not in (None, ranks.count):
        yield Fact("DLB672", "", f"{answer.fewest} of the {ranks.count} ranks take the same time")
    yield from _moved(answer.traffic)
    if answer.time is not None:
        yield Fact("DLB676", "time", str(answer.time))
    if measured is not None:
        yield from _audited(answer, measured)


def _audited(answer: RankAnswer, measured: MeasuredEfficiency) -> Iterator[Fact]:
    """What was predicted of a run beside what runs have measured."""
    from dlbrt.predict.audit import AuditedFigure

    parts = []
    if answer.time is not None:
        found = AuditedFigure(answer.time.seconds, measured.each_s)
        parts.append(_compared(found, seconds_text, "took"))
    if answer.traffic is not None and answer.traffic.rows and measured.row_bytes:
        parts.append(_compared(AuditedFigure(answer.traffic.rows, measured.row_bytes), bytes_text, "moved"))
    if answer.iterations:
        best = shortest_on(measured.alone_s, answer.iterations, measured.row_bytes)
        parts.append(f"by the computing that was measured a run is shortest on {_ranks(best)}")
    if parts:
        yield Fact("DLB677", "audit", "; ".join(parts))


def _compared(found: AuditedFigure, text: Callable[[float], str], verb: str) -> str:
    from dlbrt.predict.audit import percent_more

    more = percent_more(found.difference)
    return f"predicted {text(found.predicted)} a run, {verb} {text(found.measured)} ({more})"


def _ranks(number: int) -> str:
    return f"{number} rank{'s' * (number != 1)}"


def _moved(traffic: Traffic | None) -> Iterator[Fact]:
    """The bytes that a run moves, if any are known."""
    if traffic is None:
        return
    if not (traffic.rows or traffic.whole):
        if traffic.missing:
            names = ", ".join(traffic.unknown)
            yield Fact("DLB671", "moved", f"the size of {names} is not known{wanted(traffic.missing)}")
        return
    parts = [f"{bytes_text(traffic.rows)} of rows, there and back"] if traffic.rows else []
    parts += [f"{bytes_text(traffic.whole)} of whole arrays"] if traffic.whole else []
    if traffic.assumed:
        parts.append(f"a row of {', '.join(traffic.assumed)} taken for one number")
    if traffic.unknown:
        parts.append(f"without {', '.join(traffic.unknown)}, whose size is not known")
    yield Fact("DLB675", "moved", "; ".join(parts))


def ranks_as_json(report: LoopReport, ranks: RankSpec) -> dict[str, Any]:
    """The same for JSON."""
    answer = answer_for(report, ranks)
    return {
        "ranks": ranks.count,
        "weights": ranks.weights,
        "iterations": answer.iterations,
        "why": answer.why,
        "estimates": [
            {"distribution": e.name, "efficiency": e.efficiency, "largest_over_ideal": e.largest}
            for e in answer.estimates
        ],
        "fewest_ranks": answer.fewest,
        "within_rows": answer.within_rows,
        "moved": None if answer.traffic is None else asdict(answer.traffic),
        "predicted": None if answer.time is None else asdict(answer.time),
    }


def _formula(ranks: int) -> Fact:
    from dlbrt.partition.proportional import product_bound

    text = f"efficiency n/({ranks}*ceil(n/{ranks})) for n iterations"
    return Fact(
        "DLB670", "equal parts", f"{text}, at least {product_bound(1, ranks):.1%} for more than {ranks}"
    )
