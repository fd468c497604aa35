"""What the compiler says of a program, in process: its diagnostics, its plans, the witness of a refusal."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from dlbc.diagnostics.diagnostic import Diagnostic, Severity, render
from dlbc.ir.loop import Module, ProofStatus
from dlbc.ir.plan import LoopPlan
from dlbc.parse.find_loops import find_loops
from dlbc.passes.plan_loops import report_loops
from dlbc.source import Source

__all__ = ["PROVED", "Verdict", "Witness", "verdict_of", "witnesses_of"]

#: Statuses that rest on nobody's word.
PROVED = frozenset({ProofStatus.PROVEN, ProofStatus.GUARDED})

_WITNESS = re.compile(r"iterations (\w+)=(-?\d+) and (\w+)=(-?\d+) both (?:access|store to) (\S.*\])")


@dataclass(frozen=True)
class Verdict:
    """The plans of a program's parallel loops, and what was found; ``text`` is the program."""

    source: Source
    plans: tuple[LoopPlan | None, ...]
    findings: tuple[Diagnostic, ...]

    @property
    def errors(self) -> list[Diagnostic]:
        return [d for d in self.findings if d.severity is Severity.ERROR]

    @property
    def accepted(self) -> bool:
        return not self.errors and None not in self.plans

    @property
    def proved(self) -> bool:
        """Whether every loop is accepted, and none by assertion or by trust in unseen functions."""
        return self.accepted and all(p is not None and p.status in PROVED for p in self.plans)

    def __str__(self) -> str:
        """For messages of failed tests: the findings as a person reads them, and the statuses."""
        shown = [render(d, self.source) for d in self.findings]
        shown += [f"loop {n}: {p.status.value}" for n, p in enumerate(self.plans, 1) if p is not None]
        return "\n".join(shown)


@dataclass(frozen=True, slots=True)
class Witness:
    """Two iterations by the value of ``index``, and the element that they share."""

    index: str
    first: int
    second: int
    element: str


@lru_cache(1000)
def verdict_of(text: str, path: str = "case.py") -> Verdict:
    """The verdict on all loops of a program."""
    source = Source(path, text.encode(), text)
    module = Module(source, ast.parse(text))
    loops, _, problems = find_loops(module)
    reports = report_loops(module, loops)
    findings = (*problems, *(d for r in reports for d in r.findings))
    return Verdict(source, tuple(r.plan for r in reports), findings)


def witnesses_of(findings: Sequence[Diagnostic]) -> list[Witness]:
    """The witnesses that the messages name."""
    found = [_WITNESS.search(d.message) for d in findings]
    return [Witness(m[1], int(m[2]), int(m[4]), m[5]) for m in found if m and m[1] == m[3]]
