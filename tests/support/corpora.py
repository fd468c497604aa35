"""Programs ported from outside corpora, and docs/reach.md: what dlbc says of each loop annotated in them.

A comment above the annotation of a loop that is refused says why: ``# Not legal: reason.``, or ``# Legal, but
reason``. Each loop is judged alone, with all other annotations of its program taken out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dlbc.commands.explain.describe import header_of
from dlbc.commands.explain.sentences import written_name
from dlbc.commands.verdicts import is_refused
from dlbc.diagnostics.diagnostic import Severity
from dlbc.ir.loop import IndependenceProof, ProofMethod, ProofStatus
from dlbc.ir.plan import LoopPlan, LoopReport
from dlbc.pipeline import explain
from dlbc.source import Source

ROOT = Path(__file__).resolve().parents[2]
CORPORA = ROOT / "tests" / "corpora"
PAGE = ROOT / "docs" / "reach.md"

_ANNOTATION = re.compile(r"(?m)^(?: *# (Not legal: |Legal, but )(.*?)\.?\n)? *# dlb: ")

_INTRODUCTION = """\
# Reach

Loops of programs that others have written, ported by their descriptions to plain Python and numpy, and
annotated as a user would: what `dlbc` accepts, what it refuses, and why.

A loop is *legal* if its iterations are independent as it is written, but for reductions and containers that
keep their order. *Checked before*: a condition, or rows that the text does not show, are looked at before
the loop; *checked while it runs*: it calls what dlbc does not see; either way rank 0 runs the loop alone
where the check fails. *Asserted*: a clause `private(...)` is taken at its word.

Accepted loops run on ranks in the tests, under several strategies, and their output is compared with that
of the sequential program byte for byte. The page is made of [tests/corpora](../tests/corpora) by
`pytest tests/dlbc/test_corpora.py --update-golden`.

| corpus | programs | loops | legal | accepted | checked | not legal | refused |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""

#: Corpora by folder: title and what is in it.
_CORPORA = {
    "npbench": (
        "NPBench",
        """\
The 18 programs of [NPBench](https://github.com/spcl/npbench) in which its authors marked loops parallel for
numba (`prange`): every loop so marked, nested ones and those in comments included, and Floyd and Warshall's
once more.""",
    ),
    "polybench": (
        "PolyBench",
        """\
The 30 kernels of PolyBench 4.2, element by element. Loops that are not legal are annotated where a user
might try them. In seidel_2d no loop is legal; in cholesky, nussinov and trisolv only innermost ones are,
which reduce into an element.""",
    ),
    "packages": (
        "Packages",
        """\
Loops in the shape of those of ten packages: astropy, control, filterpy, lmfit, networkx, pyswarms, SALib,
scikit-image, sgp4 and statsmodels.""",
    ),
}

_STATUS = {
    ProofStatus.PROVEN: "parallel",
    ProofStatus.GUARDED: "parallel, checked before",
    ProofStatus.CHECKED: "parallel, checked while it runs",
    ProofStatus.ASSERTED: "parallel, asserted",
}


@dataclass(frozen=True, slots=True)
class Annotation:
    """The annotation with this number in a program; ``reason``: why its loop is refused, if it is."""

    number: int
    legal: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What dlbc says of a loop, and what its program says; ``checked``: something is looked at in the run."""

    place: str
    annotation: Annotation
    accepted: bool
    text: str
    why: str

    @property
    def checked(self) -> bool:
        """Whether something that it rests on is looked at in the run."""
        return "checked" in self.text

    @property
    def contradicted(self) -> bool:
        """Whether the program expects another verdict: a refusal without reason, or a proof with one."""
        return self.accepted == bool(self.annotation.reason) and not (self.accepted and self.checked)


def paths(corpus: str = "*") -> list[Path]:
    """The programs of a corpus, or of all, by name."""
    return sorted(CORPORA.glob(f"{corpus}/*.py"))


def annotations(path: Path) -> list[Annotation]:
    """The annotations of a program."""
    found = _ANNOTATION.finditer(path.read_text(encoding="utf-8"))
    return [Annotation(k, m[1] is None or m[1].startswith("Legal"), m[2] or "") for k, m in enumerate(found)]


def annotating(path: Path, kept: Iterable[Annotation]) -> str:
    """The text of a program with these annotations alone."""
    first, *others = path.read_text(encoding="utf-8").split("# dlb: ")
    numbers = {annotation.number for annotation in kept}
    marks = ["# dlb: " if number in numbers else "# was: " for number in range(len(others))]
    return first + "".join(mark + text for mark, text in zip(marks, others, strict=True))


def verdicts(path: Path) -> Iterator[Verdict]:
    """What dlbc says of each loop of a program, judged alone."""
    for annotation in annotations(path):
        text = annotating(path, [annotation])
        source = Source(path.name, text.encode(), text)
        [report] = explain(source).reports
        header = header_of(source, report.loop.node).removesuffix(":")
        yield _verdict(f"{report.loop.node.lineno}: `{header}`", annotation, report)


def _verdict(place: str, annotation: Annotation, report: LoopReport) -> Verdict:
    accepted = report.plan is not None and not is_refused(report)
    if report.plan is not None and accepted:
        text, why = _status(report.plan), _grounds(report, report.plan)
    else:
        codes = sorted({d.code for d in report.findings if d.severity is Severity.ERROR})
        text, why = f"refused: {', '.join(codes)}", ""
    if annotation.reason:
        why = f"{'' if annotation.legal else 'not '}legal: {annotation.reason}"
    return Verdict(place, annotation, accepted, text, why)


def _status(plan: LoopPlan) -> str:
    inspected = plan.status is ProofStatus.PROVEN and any(array.inspect for array in plan.arrays)
    return _STATUS[ProofStatus.GUARDED if inspected else plan.status]


def _grounds(report: LoopReport, plan: LoopPlan) -> str:
    """What the verdict rests on, in a few words."""
    groups: dict[str, list[str]] = {}
    for proof in report.proofs:
        groups.setdefault(f"own {_parts(proof)} of", []).append(written_name(proof.array, plan))
    for reduction in plan.reductions:
        groups.setdefault(f"`{reduction.operator}` into", []).append(written_name(reduction.name, plan))
    for container in plan.ordered:
        groups.setdefault("in order:", []).append(written_name(container.name, plan))
    for name, _ in plan.watched:
        groups.setdefault("calls", []).append(name)
    return "; ".join(f"{what} {_names(names)}" for what, names in groups.items()) or "items of its own"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in dict.fromkeys(names))


def _parts(proof: IndependenceProof) -> str:
    if proof.method is ProofMethod.INSPECTOR or proof.axis is None:
        return "elements"
    return "columns" if proof.axis or proof.array.endswith("[...]") else "rows"


def page(found: dict[Path, list[Verdict]]) -> str:
    """The page of the verdicts by program: totals, then a table for each corpus."""
    corpora = {name: {p: v for p, v in found.items() if p.parent.name == name} for name in _CORPORA}
    totals = (_total(_CORPORA[name][0], list(programs.values())) for name, programs in corpora.items())
    sections = (_section(name, programs) for name, programs in corpora.items())
    return _INTRODUCTION + "".join(totals) + "".join(sections)


def _total(title: str, programs: Sequence[Sequence[Verdict]]) -> str:
    loops = [verdict for program in programs for verdict in program]
    legal = [verdict for verdict in loops if verdict.annotation.legal]
    accepted = [verdict for verdict in legal if verdict.accepted]
    checked = [verdict for verdict in accepted if verdict.checked]
    others = [verdict for verdict in loops if not verdict.annotation.legal]
    refused = [verdict for verdict in others if not verdict.accepted]
    figures = (programs, loops, legal, accepted, checked, others, refused)
    return f"| {title} | {' | '.join(str(len(each)) for each in figures)} |\n"


def _section(corpus: str, programs: dict[Path, list[Verdict]]) -> str:
    title, about = _CORPORA[corpus]
    lines = [
        "",
        f"## {title}",
        "",
        about,
        "",
        "| program | loop | verdict | why |",
        "| --- | --- | --- | --- |",
    ]
    for path, loops in programs.items():
        lines += rows(path, loops)
    return "\n".join([*lines, ""])


def rows(path: Path, loops: Sequence[Verdict]) -> Iterator[str]:
    """The rows of a program in the page's table."""
    shown = f"[{path.stem}](../tests/corpora/{path.parent.name}/{path.name})"
    for loop in loops:
        cells = (part.replace("|", "\\|") for part in (loop.place, loop.text, loop.why))
        yield f"| {shown} | {' | '.join(cells)} |"
        shown = ""
