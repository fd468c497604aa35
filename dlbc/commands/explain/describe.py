"""The remarks on a loop or a routine, in the order of their sections."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, TypeVar

from dlbrt.contract import Distribution

from dlbc.commands.explain import sentences
from dlbc.commands.explain.measured import MeasuredEfficiency
from dlbc.commands.explain.passes import describe_passes, passes_as_json
from dlbc.commands.explain.rank_facts import describe_ranks
from dlbc.commands.explain.ranks import RankSpec
from dlbc.commands.explain.remarks import Fact, LoopPlaces, Remark, remark_of, remarks_on
from dlbc.commands.verdicts import is_refused, status_text
from dlbc.ir.loop import ProofMethod, ProofStatus
from dlbc.ir.plan import FoldDecision, LoopPlan, LoopReport
from dlbc.ir.routine import ModRef, RoutinePlan, Wrap, WrapKind
from dlbc.source import Source, SourcePlace

#: Each strategy in a sentence, in the order of the contract, then the baselines; `docs/strategies.md` repeats
#: and explains them.
SUMMARIES: Mapping[str, str] = MappingProxyType(
    {
        "auto": "the one expected to take the least time, by a model of its cost and of its error",
        "none": "the first shares stand",
        "GCDLB": "who runs out interrupts all; rank 0 shares out what is left",
        "GDDLB": "who runs out interrupts all; all share out what is left alike",
        "LCDLB": "who runs out interrupts its group; rank 0 shares out what is left of it",
        "LDDLB": "who runs out interrupts its group; its ranks share out what is left of it alike",
        "diffusion": "neighbouring ranks even out their times, round by round",
        "SS": "one iteration at a time from a pool",
        "FSC": "chunks of one size from a pool, by the overhead and how times vary",
        "mFSC": "chunks of one size from a pool, as many as factoring makes",
        "GSS": "chunks of 1/P of what is left in a pool",
        "TSS": "chunks from a pool that grow smaller evenly",
        "FAC": "batches of P equal chunks from a pool, by how times vary",
        "FAC2": "batches of P equal chunks from a pool, each half of what is left",
        "WF": "as FAC2, chunks in proportion to known speeds",
        "AWF": "as WF, speeds measured in earlier passes",
        "AWF_B": "as WF, speeds measured from batch to batch",
        "AWF_C": "as WF, speeds measured from chunk to chunk",
        "AWF_D": "as AWF_B, with what waiting for a chunk takes",
        "AWF_E": "as AWF_C, with what waiting for a chunk takes",
        "AF": "chunks from a pool by each rank's mean time and how it varies, measured",
        "steal": "who is about to run out asks others at random for a part of what they have left",
        "periodic": "all share out what is left at fixed times, to compare with",
        "gradient": "work moves to the neighbour that is nearer to an idle rank, to compare with",
        "affinity": "who runs out takes 1/P of what the fullest rank has left, to compare with",
    }
)


def describe(
    source: Source, report: LoopReport, ranks: RankSpec | None = None, *, stays: bool = False
) -> tuple[Remark, ...]:
    """All remarks on a loop; for a refused one, why it is refused and what was tried.

    ``stays``: its arrays stay on the ranks from run to run.
    """
    places = LoopPlaces(source, report.loop.node)
    sections: list[tuple[str, Iterable[Fact]]] = [("", _verdict(report))]
    found = [remark_of(finding) for finding in report.findings]
    sections.append(("dependences", _dependences(report)))
    if report.plan is not None:
        sections += _planned(report, report.plan)
        if ranks is not None:
            sections.append(
                (f"on {ranks.count} rank{'s' * (ranks.count > 1)}", _on(source, report, ranks, stays))
            )
    others = [remark for title, facts in sections for remark in remarks_on(title, facts, places)]
    return (*found, *others)


def _verdict(report: LoopReport) -> Iterator[Fact]:
    if not is_refused(report):
        yield Fact("DLB600", "", f"the iterations are shared among the ranks: {status_text(report)}")


def _on(source: Source, report: LoopReport, ranks: RankSpec, stays: bool) -> Iterator[Fact]:
    measured = measured_at(source, report, ranks)
    yield from describe_ranks(report, ranks, measured, stays=stays)
    if measured is not None:
        yield Fact("DLB674", "measured", str(measured))


def measured_at(source: Source, report: LoopReport, ranks: RankSpec) -> MeasuredEfficiency | None:
    """What a run has measured of a loop, if statistics of it are given."""
    return ranks.measured.get(f"{PurePath(source.path).name}:{report.loop.node.lineno}")


def _planned(report: LoopReport, plan: LoopPlan) -> Iterator[tuple[str, Iterable[Fact]]]:
    yield "rests on", _conditions(report, plan)
    yield "iterations", _iterations(plan)
    yield "arrays", sentences.describe_arrays(plan)
    yield "variables", sentences.describe_variables(plan)
    yield "reductions", sentences.describe_reductions(plan)
    yield "ordered effects", _ordered(report, plan)
    yield "cost", sentences.describe_cost(report)


def _dependences(report: LoopReport) -> Iterator[Fact]:
    """For each array that is stored to, the methods that were tried; the last one decided."""
    for proof in report.proofs:
        *others, last = proof.tried or (proof.method.value,)
        yield from (Fact("DLB602", proof.array, line) for line in others)
        yield Fact("DLB601", proof.array, last)
    for failure in report.failures:
        yield from (Fact("DLB602", failure.array, line) for line in failure.tried)
        code, place = failure.finding.code, failure.finding.place
        yield Fact("DLB603", failure.array, f"refused: {code}", f"`dlbc rules {code}` explains it", place)


def _conditions(report: LoopReport, plan: LoopPlan) -> Iterator[Fact]:
    """What the independence of the iterations rests on."""
    alone = "rank 0 runs the loop alone"
    clause = report.loop.annotation.assume_independent
    for guard in plan.guards:
        yield Fact("DLB605", "guard", f"`{guard}`, checked before the loop; if it is false, {alone}")
    for proof in plan.proofs:
        if proof.method is ProofMethod.INSPECTOR:
            what = f"the rows of `{proof.array}`, inspected before the loop"
            yield Fact("DLB606", "inspector", f"{what}; if two iterations use the same row, {alone}")
    for name, line in plan.watched:
        what = "what it changes is looked at while the loop runs; if iterations share it"
        yield Fact("DLB607", "watched", f"`{name}` in line {line}: {what}, {alone}", node=_line(line))
    for proof in plan.proofs:
        if proof.method is ProofMethod.ASSERTED:
            text = f"`assume_independent`: each iteration has its own elements of `{proof.array}`"
            yield Fact("DLB608", "user", text, node=clause)
    for name in report.asserted:
        text = f"`assume_independent`: the order in which `{name}` writes does not matter"
        yield Fact("DLB608", "user", text, node=clause)
    for name in report.trusted:
        yield Fact("DLB608", "user", f"`private({name})`: no iteration reads what another one left in it")
    if plan.status is ProofStatus.PROVEN:
        yield Fact("DLB604", "text", "the text of the program")
    if plan.arrays:
        text = f"arrays do not overlap, which is checked before the loop; if they do, {alone}"
        yield Fact("DLB609", "data", text)


def _line(number: int) -> SourcePlace:
    """A whole line, where no more is known."""
    return SourcePlace(number, 1, number, 1)


def _ordered(report: LoopReport, plan: LoopPlan) -> Iterator[Fact]:
    for container in plan.ordered:
        name = sentences.written_name(container.name, plan)
        text = "updated in iteration order: it ends as in the sequential program"
        yield Fact("DLB632", name, text, node=container.effects[0])
    if report.prints:
        yield Fact("DLB633", "standard output", "captured on each rank, written in iteration order")


def _iterations(plan: LoopPlan) -> Iterator[Fact]:
    schedule = plan.loop.annotation.schedule
    yield Fact("DLB610", "", _dealt(plan), node=None if schedule is None else schedule.place)
    yield from (Fact("DLB611", "", line) for line in _items(plan.loop.node.iter))


def _items(space: ast.expr) -> Iterator[str]:
    """What is sent of the sequences that the loop runs over; a range needs no sending."""
    match space:
        case ast.Call(func=ast.Name(id="range")):
            return
        case ast.Call(func=ast.Name(id="enumerate" | "reversed" | "tqdm"), args=[inner, *_]):
            yield from _items(inner)
        case ast.Call(func=ast.Name(id="zip"), args=parts):
            for part in parts:
                yield from _items(part)
        case _:
            yield f"each rank gets the items of `{ast.unparse(space)}` that its iterations take"


def _dealt(plan: LoopPlan) -> str:
    form = "round-robin" if plan.iterations is Distribution.CYCLIC else "in blocks"
    if plan.fold_decision is not FoldDecision.NO:
        form = f"in pairs or singly, {form}" if plan.unfolds_for else f"in pairs, {form}"
    strategy = "auto, unless the run names another"
    if plan.strategy is not None:
        strategy = f"{plan.strategy} ({SUMMARIES[plan.strategy]})"
    group = "" if plan.group is None else f", groups of {plan.group}"
    return f"dealt {form}; strategy {strategy}{group}"


#: What a wrapped access of a routine's sequential code does.
_ACCESS_TEXT = {
    (ModRef.REF, WrapKind.ROWS): "reads these rows: those out of date at rank 0 are fetched",
    (ModRef.REF, WrapKind.EXPRESSION): "read: whatever is out of date at rank 0 is fetched",
    (ModRef.MOD, WrapKind.ROWS): "changes these rows: afterwards only rank 0 has them",
    (ModRef.MOD, WrapKind.CHANGED_ROWS): "changes these rows: afterwards only rank 0 has them",
    (ModRef.MOD, WrapKind.EXPRESSION): "may be changed, with all it reaches: afterwards only rank 0 has it",
    (ModRef.MOD, WrapKind.BEFORE): "changed, if it is an array: afterwards only rank 0 has it",
}


def header_of(source: Source, node: ast.For | ast.While) -> str:
    """The first line of a loop, with dots if its header continues on the next one."""
    head = node.test if isinstance(node, ast.While) else node.iter
    text = source.line(node.lineno)[source.place_of(node).column - 1 :].rstrip()
    return text + (" ..." if (head.end_lineno or node.lineno) > node.lineno else "")


def describe_routine(
    source: Source, plan: RoutinePlan, reports: Sequence[LoopReport] = (), ranks: RankSpec | None = None
) -> tuple[Remark, ...]:
    """All remarks on a routine; ``reports`` are those of the program's loops."""
    places = LoopPlaces(source, plan.routine.node)
    sections: list[tuple[str, Iterable[Fact]]] = [
        ("balanced", _balanced(plan, reports)),
        ("stays on the ranks", (Fact("DLB662", name, _STAYS) for name in plan.resident)),
        ("used at rank 0", map(_access, plan.wraps)),
        ("assumed to be scalars", (Fact("DLB664", name, _SCALAR) for name in plan.maybe_scalar)),
        (
            "not analysed",
            (
                Fact("DLB665", name, f"line {node.lineno}: {_UNSEEN}", _SEEN, node)
                for name, node in plan.unseen
            ),
        ),
    ]
    for report, facts in narrowing_loops(plan, reports, ranks, describe_passes):
        sections.append((f"line {report.loop.node.lineno} on the ranks", facts))
    return tuple(remark for title, facts in sections for remark in remarks_on(title, facts, places))


_STAYS = "only rows that other ranks need travel from pass to pass"
_SCALAR = "checked when the routine begins"
_UNSEEN = "arrays that it may access come to rank 0 at each call, and are sent out again"
_SEEN = "pass only the rows or numbers that it needs, or call it only every few passes"


def _balanced(plan: RoutinePlan, reports: Sequence[LoopReport]) -> Iterator[Fact]:
    annotation = plan.routine.annotation
    clause = annotation.iterate
    assert clause is not None
    every = "pass" if clause.every == 1 else f"{clause.every} passes"
    within = f"within {clause.tolerance:.0%}, checked after every {every}"
    text = f"shares are cut by {clause.model} speed functions, {within}"
    yield Fact("DLB660", "", text, node=annotation.place)
    if plan.narrowing:
        text = "passes narrow: with --weights the slowest rank gets the first block, the fastest the last"
        yield Fact("DLB661", "", text)
    for report in reports:
        if report.loop.ordinal in plan.loops and report.plan is not None and report.plan.chunk is not None:
            line = f"line {report.loop.node.lineno}"
            text = f"short runs of the compiled loop in {line} are repeated without being prepared anew"
            yield Fact("DLB666", "", text, node=report.loop.node.iter)
    if plan.foreseen is not None:
        text = "passes to come can be foreseen: ranks go from one short run to the next without rank 0"
        yield Fact("DLB667", "", text)


def _access(wrap: Wrap) -> Fact:
    """What the sequential code does with an array at one place."""
    subject = f"line {wrap.node.lineno}  {_text(wrap)}"
    return Fact("DLB663", subject, _ACCESS_TEXT[wrap.mod_ref, wrap.kind], node=wrap.node)


T = TypeVar("T")


def narrowing_loops(
    plan: RoutinePlan,
    reports: Sequence[LoopReport],
    ranks: RankSpec | None,
    found: Callable[[RoutinePlan, LoopReport, RankSpec], T],
) -> Iterator[tuple[LoopReport, T]]:
    """The loops of a routine that narrows, with what is ``found`` of their passes on the ranks."""
    if plan.narrowing and ranks is not None:
        for report in reports:
            if report.loop.ordinal in plan.loops:
                yield report, found(plan, report, ranks)


def _text(wrap: Wrap) -> str:
    return " ".join(ast.unparse(wrap.node).split())


def place_object(source: Source, place: SourcePlace) -> dict[str, int]:
    """For JSON: the line and the column; in a notebook the cell, and the line in it."""
    cell, line = source.in_cell(place.line)
    return ({"cell": cell} if cell else {}) | {"line": line, "column": place.column}


def routine_object(
    source: Source, plan: RoutinePlan, reports: Sequence[LoopReport] = (), ranks: RankSpec | None = None
) -> dict[str, Any]:
    """The same facts as `describe_routine`, for JSON."""
    on_ranks = [
        {"line": source.in_cell(report.loop.node.lineno)[1], **found}
        for report, found in narrowing_loops(plan, reports, ranks, passes_as_json)
    ]
    return {
        **place_object(source, source.place_of(plan.routine.node)),
        "header": header_of(source, plan.routine.node),
        "resident": plan.resident,
        "plain": plan.maybe_scalar,
        "places": [
            {
                "line": source.in_cell(wrap.node.lineno)[1],
                "touch": wrap.mod_ref.mode,
                "text": _text(wrap),
                "rows": wrap.kind in (WrapKind.ROWS, WrapKind.CHANGED_ROWS),
            }
            for wrap in plan.wraps
        ],
        "unseen": [{"line": source.in_cell(node.lineno)[1], "text": text} for text, node in plan.unseen],
        **({"on_ranks": on_ranks} if on_ranks else {}),
    }
