"""The sections of the explanation of a loop or a routine, as rows of a subject and a sentence."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, TypeVar

from dlbrt.contract import Distribution
from dlbrt.records import dataclass

from dlbc.commands.explain import sentences
from dlbc.commands.explain.measured import MeasuredEfficiency
from dlbc.commands.explain.passes import describe_passes, passes_as_json
from dlbc.commands.explain.ranks import RankSpec, describe_ranks
from dlbc.diagnostics.diagnostic import Diagnostic, Severity
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

Row = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Section:
    """A title and its rows; a row with an empty subject continues the one before."""

    title: str
    rows: tuple[Row, ...]


def describe(source: Source, report: LoopReport, ranks: RankSpec | None = None) -> tuple[Section, ...]:
    """All sections that are not empty; for a refused loop, why it is refused and what was tried."""
    sections = [Section("findings", tuple(_finding(source, each) for each in report.findings))]
    sections.append(Section("dependences", tuple(_dependences(report))))
    if report.plan is not None:
        sections += _planned(report, report.plan)
        if ranks is not None:
            title = f"on {ranks.count} rank{'s' * (ranks.count > 1)}"
            rows = [*describe_ranks(report, ranks)]
            if (measured := measured_at(source, report, ranks)) is not None:
                rows.append(("measured", str(measured)))
            sections.append(Section(title, tuple(rows)))
    return tuple(s for s in sections if s.rows)


def measured_at(source: Source, report: LoopReport, ranks: RankSpec) -> MeasuredEfficiency | None:
    """What a run has measured of a loop, if statistics of it are given."""
    return ranks.measured.get(f"{PurePath(source.path).name}:{report.loop.node.lineno}")


def _planned(report: LoopReport, plan: LoopPlan) -> Iterator[Section]:
    yield Section("rests on", tuple(_conditions(report, plan)))
    yield Section("iterations", ((_dealt(plan), ""), *((line, "") for line in _items(plan.loop.node.iter))))
    yield Section("arrays", tuple(sentences.describe_arrays(plan)))
    yield Section("variables", tuple((v.name, sentences.describe_variable(v)) for v in plan.variables))
    yield Section(
        "reductions",
        tuple(
            (sentences.written_name(r.name, plan), sentences.describe_reduction(r)) for r in plan.reductions
        ),
    )
    yield Section("ordered effects", tuple(_ordered(report, plan)))
    yield Section("cost", tuple(sentences.describe_cost(report)))


def _finding(source: Source, finding: Diagnostic) -> Row:
    place = f"{finding.place.line}:{finding.place.column} " if finding.place.line else ""
    if source.cells and place:
        place = f"line {finding.place.line}: "
    severity = "" if finding.severity is Severity.ERROR else f"{finding.severity.value}: "
    return finding.code, f"{place}{severity}{finding.message}"


def _dependences(report: LoopReport) -> Iterator[Row]:
    """For each array that is stored to, the methods that were tried; the last one decided."""
    for proof in report.proofs:
        yield from _steps(proof.array, proof.tried or (proof.method.value,))
    for failure in report.failures:
        yield from _steps(failure.array, (*failure.tried, f"refused: {failure.finding.code}"))


def _steps(array: str, lines: tuple[str, ...]) -> Iterator[Row]:
    for number, line in enumerate(lines):
        yield ("" if number else array), line


def _conditions(report: LoopReport, plan: LoopPlan) -> Iterator[Row]:
    """What the independence of the iterations rests on."""
    alone = "rank 0 runs the loop alone"
    for guard in plan.guards:
        yield "guard", f"`{guard}`, checked before the loop; if it is false, {alone}"
    for proof in plan.proofs:
        if proof.method is ProofMethod.INSPECTOR:
            what = f"the rows of `{proof.array}`, inspected before the loop"
            yield "inspector", f"{what}; if two iterations use the same row, {alone}"
    for name, line in plan.watched:
        what = "what it changes is looked at while the loop runs; if iterations share it"
        yield "watched", f"`{name}` in line {line}: {what}, {alone}"
    for proof in plan.proofs:
        if proof.method is ProofMethod.ASSERTED:
            yield "user", f"`assume_independent`: each iteration has its own elements of `{proof.array}`"
    for name in report.asserted:
        yield "user", f"`assume_independent`: the order in which `{name}` writes does not matter"
    for name in report.trusted:
        yield "user", f"`private({name})`: no iteration reads what another one left in it"
    if plan.status is ProofStatus.PROVEN:
        yield "text", "the text of the program"
    if plan.arrays:
        yield "data", f"arrays do not overlap, which is checked before the loop; if they do, {alone}"


def _ordered(report: LoopReport, plan: LoopPlan) -> Iterator[Row]:
    for container in plan.ordered:
        name = sentences.written_name(container.name, plan)
        yield name, "updated in iteration order: it ends as in the sequential program"
    if report.prints:
        yield "standard output", "captured on each rank, written in iteration order"


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
    plan: RoutinePlan, reports: Sequence[LoopReport] = (), ranks: RankSpec | None = None
) -> tuple[Section, ...]:
    """All sections that are not empty; ``reports`` are those of the program's loops."""
    clause = plan.routine.annotation.iterate
    assert clause is not None
    every = "pass" if clause.every == 1 else f"{clause.every} passes"
    balanced = (
        f"by {clause.model} speed functions, within {clause.tolerance:.0%}, checked after every {every}"
    )
    accesses = (
        (f"line {wrap.node.lineno}  {_text(wrap)}", _ACCESS_TEXT[wrap.mod_ref, wrap.kind])
        for wrap in plan.wraps
    )
    narrowing = "passes narrow: with --weights the slowest rank gets the first block, the fastest the last"
    sections = (
        Section("balanced", ((balanced, ""), *([(narrowing, "")] if plan.narrowing else []))),
        Section("stays on the ranks", tuple((name, "") for name in plan.resident)),
        Section("used at rank 0", tuple(accesses)),
        Section(
            "assumed to be scalars",
            tuple((name, "checked when the routine begins") for name in plan.maybe_scalar),
        ),
        Section("not analysed", tuple((text, f"line {node.lineno}") for text, node in plan.unseen)),
        *(
            Section(f"line {report.loop.node.lineno} on the ranks", tuple(rows))
            for report, rows in narrowing_loops(plan, reports, ranks, describe_passes)
        ),
    )
    return tuple(section for section in sections if section.rows)


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
