"""Refuse what is taken on trust, for `--strict`: functions that cannot be seen, and the word of the user.

Only what a verdict rests on is refused: an assertion of what was proved anyway is none.
"""

from __future__ import annotations

from collections.abc import Iterator

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic
from dlbc.ir.proof import ProofMethod
from dlbc.ir.report import LoopReport

__all__ = ["check_strict"]

#: The remark on a function that cannot be seen, which becomes an error.
_UNSEEN = "DLB412"


def check_strict(found: LoopReport) -> tuple[Diagnostic, ...]:
    """The findings of the loop, with an error for each thing that is taken on trust."""
    kept = (d for d in found.findings if d.code != _UNSEEN)
    unseen = (report("DLB423", place, function=name) for name, place in found.unseen)
    return tuple(sorted((*kept, *unseen, *_asserted(found)), key=lambda d: (d.place, d.code)))


def _asserted(found: LoopReport) -> Iterator[Diagnostic]:
    annotation = found.loop.annotation
    for verdict in found.proofs:
        if verdict.method is ProofMethod.ASSERTED and annotation.assume_independent is not None:
            place = annotation.assume_independent
            yield report("DLB424", place, clause="assume_independent", array=verdict.array)
    if annotation.assume_independent is not None:
        for name in found.asserted:
            yield report("DLB424", annotation.assume_independent, clause="assume_independent", array=name)
    for clause in annotation.private:
        for name in clause.names:
            if name in found.trusted:
                yield report("DLB424", clause.place, clause="private", array=name)
