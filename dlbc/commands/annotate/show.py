"""The loops of a file, as text, JSON, a patch, or written: proposals by what they gain, and the obstacles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import inf
from typing import Any

from dlbrt.records import dataclass
from dlbrt.whole_files import write_whole

from dlbc.analysis.uses import own_nodes
from dlbc.commands.annotate.insert import unified_diff, with_comments
from dlbc.commands.annotate.profile import LoopTime, ProgramProfile
from dlbc.commands.annotate.proposals import ITERATE, FileProposals, Proposal
from dlbc.commands.annotate.wording import amount, worth_text
from dlbc.commands.annotate.worth import Worth, WorthVerdict, worth_of
from dlbc.commands.explain.describe import header_of
from dlbc.commands.explain.loop_numbers import Number
from dlbc.commands.explain.obstacles import InTheWay, in_the_way
from dlbc.commands.explain.prediction import seconds_text
from dlbc.commands.verdicts import rounded_otherwise
from dlbc.diagnostics.diagnostic import TextStyle, paint
from dlbc.passes.propose_loops import RefusedLoop
from dlbc.source import Source

_SUSPENDS = frozenset({"DLB204", "DLB205"})

#: Decorators compile these functions from their source, so nothing may be added to it.
_COMPILED = "DLB502"

#: A call that dlbc does not see: an error only where nothing is to be assumed.
_UNSEEN = "DLB423"


_ROUNDED = "the same on any number of ranks; a float, in its last bits, perhaps not as without annotation"


@dataclass(frozen=True)
class RankedProposal:
    """A proposal with its worth, and with its time in the profiled run."""

    proposal: Proposal
    worth: Worth
    time: LoopTime | None = None

    @property
    def is_written(self) -> bool:
        """Whether its annotation is inserted: it pays, or its size decides."""
        return self.worth.verdict is not WorthVerdict.TOO_SMALL


@dataclass(frozen=True)
class Obstructed:
    """A loop that is not proposed."""

    refused: RefusedLoop
    why: InTheWay
    time: LoopTime | None = None

    @property
    def is_checked(self) -> bool:
        """Whether it may be annotated all the same: what is not proved is checked while it runs."""
        refused = self.refused
        return all(each.code == _UNSEEN for each in refused.findings) and not (
            refused.by_name and not refused.watched
        )


@dataclass(frozen=True)
class AssessedFile:
    """What is shown of a file: ``ranked`` by what they gain, ``obstructed`` by the time that they take."""

    source: Source
    ranks: int
    ranked: tuple[RankedProposal, ...]
    obstructed: tuple[Obstructed, ...]
    profile: ProgramProfile | None = None

    @property
    def comments(self) -> dict[int, str]:
        """The comments to insert, by the line that each stands above."""
        chosen = [each.proposal for each in self.ranked if each.is_written]
        around = {p.routine: ITERATE for p in chosen if p.routine}
        return dict(sorted({**{p.line: p.text for p in chosen}, **around}.items()))


def lines_to_time(found: FileProposals) -> list[int]:
    """The lines of the loops to be measured: all but those that suspend or are compiled by others."""
    lines = [each.line for each in found.proposals]
    for each in found.refused:
        compiled = any(d.code == _COMPILED for d in each.findings)
        inside = own_nodes(each.loop.node.body)
        if not compiled and not any(type(n).__name__ in ("Yield", "YieldFrom", "Await") for n in inside):
            lines.append(each.loop.node.lineno)
    return lines


def assess(
    found: FileProposals, ranks: int, given: Mapping[str, Number], profile: ProgramProfile | None
) -> AssessedFile:
    """What the proposals of a file are worth, and what is in the way of its other loops."""
    path = found.source.path
    ranked = []
    for each in found.proposals:
        time = None if profile is None else profile.of(path, each.line) or LoopTime()
        worth = worth_of(each.report, ranks, given, time, stays=bool(each.routine))
        ranked.append(RankedProposal(each, worth, time))
    obstructed = []
    for refused in found.refused:
        time = None if profile is None else profile.of(path, refused.loop.node.lineno)
        obstructed.append(Obstructed(refused, in_the_way(refused, found.source), time))
    ranked.sort(key=_rank)
    obstructed.sort(key=lambda each: (-_seconds(each.time), each.refused.loop.node.lineno))
    return AssessedFile(found.source, ranks, tuple(ranked), tuple(obstructed), profile)


def _seconds(time: LoopTime | None) -> float:
    return 0.0 if time is None else time.seconds


def _rank(each: RankedProposal) -> tuple[float, float, int]:
    """By the seconds that are saved in all runs; where they are not known, by the size that is needed."""
    worth, runs = each.worth, 1 if each.time is None else each.time.runs
    saved_s = 0.0
    if worth.parallel_s is not None and worth.size.seconds is not None:
        saved_s = runs * (worth.size.seconds - worth.parallel_s)
    return -saved_s, worth.sizes or inf, each.proposal.line


# Text


def as_text(file: AssessedFile, *, color: bool = False) -> str:
    """A head, the proposals, and the other loops."""
    return "\n".join(
        [paint(_head(file), TextStyle.BOLD, color), *_proposed(file, color), *_others(file, color)]
    )


def _head(file: AssessedFile) -> str:
    checked = sum(each.is_checked for each in file.obstructed)
    loops, rest = len(file.ranked), len(file.obstructed) - checked
    if not loops + checked + rest:
        return f"{file.source.path}: no `for` loop without an annotation"
    small = sum(not each.is_written for each in file.ranked)
    parts = [f"{amount(loops, 'loop')} can be parallel" + (f" ({small} too small)" if small else "")]
    parts += (
        [f"{checked} may be (checked while {'it runs' if checked == 1 else 'they run'})"] if checked else []
    )
    parts += [f"{rest} cannot as {'it is' if rest == 1 else 'they are'}"] if rest else []
    return f"{file.source.path}: {', '.join(parts)}"


def _proposed(file: AssessedFile, color: bool) -> Iterator[str]:
    for each in file.ranked:
        proposal = each.proposal
        good = TextStyle.GOOD if each.is_written else TextStyle.REMARK
        yield ""
        yield f"{file.source.path}:{proposal.line}: {header_of_line(file.source, proposal.line)}"
        yield f"  {paint(f'# dlb: {proposal.text}', good, color)}"
        if proposal.routine:
            around = f"`# dlb: {ITERATE}` above the loop of line {proposal.routine}"
            yield f"  with {around}: arrays stay on the ranks"
        for line in worth_text(each.worth, file.ranks, each.time, file.profile):
            yield f"  {line}"
        for guard in proposal.report.plan.guards if proposal.report.plan is not None else ():
            yield f"  on the condition, checked before the loop, that {guard}"
        for name in rounded_otherwise(proposal.report):
            yield f"  `{name}` has several updates in an iteration: {_ROUNDED}"


def header_of_line(source: Source, line: int) -> str:
    """The loop's first line, without its indentation."""
    return source.line(line).strip()


def _others(file: AssessedFile, color: bool) -> Iterator[str]:
    for title, checked in (
        ("these may be annotated: what is not proved is checked while they run", True),
        ("in the way of the others", False),
    ):
        found = [each for each in file.obstructed if each.is_checked is checked]
        if found:
            yield ""
            yield paint(title, TextStyle.BOLD, color)
        for each in found:
            yield from _other(file, each)


def _other(file: AssessedFile, each: Obstructed) -> Iterator[str]:
    node, why = each.refused.loop.node, each.why
    share = ""
    if file.profile is not None and each.time is not None:
        share = f"  ({seconds_text(each.time.seconds)}, {file.profile.share(each.time):.0%})"
    yield f"  {file.source.path}:{node.lineno}: {header_of(file.source, node)}{share}"
    more = f", and {amount(why.others, 'other thing')}" if why.others else ""
    yield f"    {why.obstacle.value}{f' [{why.code}]' if why.code else ''}{more}"
    yield f"    line {why.place.line}: {why.sentence}"


# Other forms


def annotated(file: AssessedFile) -> Source:
    """The program with the comments."""
    return with_comments(file.source, file.comments)


def diff(file: AssessedFile) -> str:
    """The comments as a patch."""
    return unified_diff(file.source, annotated(file))


def write(files: Sequence[AssessedFile]) -> None:
    """Insert the comments into the files; OSError."""
    for file in files:
        if file.comments:
            write_whole(file.source.path, annotated(file).data, like=file.source.path)


def as_object(file: AssessedFile) -> dict[str, Any]:
    """For JSON."""
    return {
        "file": file.source.path,
        "ranks": file.ranks,
        "profiled_s": None if file.profile is None else file.profile.elapsed_s,
        "proposals": [_proposal_object(file, each) for each in file.ranked],
        "others": [_other_object(file, each) for each in file.obstructed],
    }


def _range(source: Source, line: int) -> dict[str, int]:
    """The place of a loop's first line."""
    text = source.line(line)
    return {
        "line": line, "column": len(text) - len(text.lstrip()) + 1,
        "end_line": line, "end_column": len(text.rstrip()) + 1,
    }  # fmt: skip


def _time_object(file: AssessedFile, time: LoopTime | None) -> dict[str, Any] | None:
    if time is None or file.profile is None:
        return None
    return {**asdict(time), "share": file.profile.share(time)}


def _proposal_object(file: AssessedFile, each: RankedProposal) -> dict[str, Any]:
    plan, worth = each.proposal.report.plan, each.worth
    assert plan is not None, "the loop is proved"
    return {
        **_range(file.source, each.proposal.line),
        "header": header_of_line(file.source, each.proposal.line),
        "annotation": each.proposal.text,
        "iterate_line": each.proposal.routine or None,
        "proof": plan.status.value,
        "guards": list(plan.guards),
        "rounded_otherwise": list(rounded_otherwise(each.proposal.report)),
        "verdict": worth.verdict.value,
        "iterations": worth.size.iterations,
        "sequential_s": worth.size.seconds,
        "parallel_s": worth.parallel_s,
        "speedup": worth.gain,
        "pays_from_s": worth.least_s,
        "pays_from_size": worth.sizes,
        "missing": list(worth.size.missing),
        "measured": _time_object(file, each.time),
    }


def _other_object(file: AssessedFile, each: Obstructed) -> dict[str, Any]:
    return {
        **_range(file.source, each.refused.loop.node.lineno),
        "header": header_of(file.source, each.refused.loop.node),
        "obstacle": each.why.obstacle.name.lower(),
        "code": each.why.code or None,
        "reason": each.why.sentence,
        "at": asdict(each.why.place),
        "other_reasons": each.why.others,
        "checked_while_it_runs": each.is_checked,
        "measured": _time_object(file, each.time),
    }
