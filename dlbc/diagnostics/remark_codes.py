"""The codes of remarks: what was done with a loop, what was not and why, and what was found out about it.

Law: a code is stable and has one kind, as `-Rpass`, `-Rpass-missed` and `-Rpass-analysis` of LLVM have. A
remark is no diagnostic: it has no severity and asks for nothing to be mended. What keeps a loop from being
parallel is a diagnostic of the catalogue, and counts among the missed remarks with its own code.
"""

from __future__ import annotations

from enum import Enum

from dlbrt.records import dataclass


class RemarkKind(Enum):
    """Whether a remark says what was done, what was not done, or what is known."""

    PASSED = "passed"
    MISSED = "missed"
    ANALYSIS = "analysis"


@dataclass(frozen=True, slots=True)
class RemarkEntry:
    """A code: its kind, the part of the compiler that makes it, and a sentence that names nothing."""

    kind: RemarkKind
    part: str
    title: str


P, M, A = RemarkKind.PASSED, RemarkKind.MISSED, RemarkKind.ANALYSIS

REMARKS: dict[str, RemarkEntry] = {
    "DLB600": RemarkEntry(P, "independence", "The loop runs on all ranks."),
    "DLB601": RemarkEntry(P, "independence", "Iterations are proved to store to different elements."),
    "DLB602": RemarkEntry(A, "independence", "A method of proof was tried and did not decide."),
    "DLB603": RemarkEntry(M, "independence", "Iterations are not proved to store to different elements."),
    "DLB604": RemarkEntry(A, "independence", "The proof rests on the text of the program alone."),
    "DLB605": RemarkEntry(A, "independence", "The proof rests on a condition checked before the loop."),
    "DLB606": RemarkEntry(A, "independence", "Rows that data selects are inspected before the loop."),
    "DLB607": RemarkEntry(A, "independence", "What a call changes is watched while the loop runs."),
    "DLB608": RemarkEntry(A, "independence", "Independence rests on the word of the user."),
    "DLB609": RemarkEntry(A, "independence", "That arrays do not overlap is checked before the loop."),
    "DLB610": RemarkEntry(P, "sharing", "How iterations are dealt, and by which strategy they are balanced."),
    "DLB611": RemarkEntry(P, "sharing", "Each rank gets the items that its iterations take."),
    "DLB612": RemarkEntry(P, "sharing", "The loop is folded: iterations are dealt in pairs."),
    "DLB613": RemarkEntry(A, "sharing", "When a folded loop is dealt singly all the same."),
    "DLB614": RemarkEntry(M, "sharing", "The loop is not folded."),
    "DLB615": RemarkEntry(P, "sharing", "The first shares are cut by what iterations cost."),
    "DLB616": RemarkEntry(M, "sharing", "The first shares are cut without knowing what iterations cost."),
    "DLB617": RemarkEntry(P, "sharing", "The cost of iterations is measured in the first pass."),
    "DLB620": RemarkEntry(P, "data", "An array is distributed by rows."),
    "DLB621": RemarkEntry(M, "data", "Every rank holds the whole of an array."),
    "DLB622": RemarkEntry(P, "data", "Rows that iterations overwrite are not sent."),
    "DLB623": RemarkEntry(A, "data", "Which rows of an array an iteration uses."),
    "DLB624": RemarkEntry(P, "data", "A row that all iterations read is sent once to each rank."),
    "DLB625": RemarkEntry(A, "data", "What of an array travels."),
    "DLB630": RemarkEntry(A, "variables", "How the value of a variable travels."),
    "DLB631": RemarkEntry(P, "variables", "A variable is a reduction."),
    "DLB632": RemarkEntry(P, "variables", "A container is updated in iteration order."),
    "DLB633": RemarkEntry(P, "variables", "Output appears in iteration order."),
    "DLB640": RemarkEntry(A, "cost", "The cost of iterations is given by the user."),
    "DLB641": RemarkEntry(A, "cost", "The work of an iteration was derived."),
    "DLB642": RemarkEntry(M, "cost", "The work of an iteration was not derived."),
    "DLB643": RemarkEntry(A, "cost", "What the derived work assumes."),
    "DLB650": RemarkEntry(P, "jit", "The loop is compiled."),
    "DLB651": RemarkEntry(P, "jit", "Inner loops are restructured."),
    "DLB652": RemarkEntry(M, "jit", "The loop is not compiled."),
    "DLB653": RemarkEntry(M, "jit", "Inner loops are not restructured."),
    "DLB654": RemarkEntry(A, "jit", "What compiling does to the last bits of results."),
    "DLB655": RemarkEntry(A, "jit", "What iterations contribute is combined by Python."),
    "DLB660": RemarkEntry(P, "routine", "Shares are balanced from pass to pass by speed functions."),
    "DLB661": RemarkEntry(P, "routine", "Blocks lie in the order of speeds, since passes narrow."),
    "DLB662": RemarkEntry(P, "routine", "An array stays on the ranks from pass to pass."),
    "DLB663": RemarkEntry(A, "routine", "Sequential code of a routine uses an array at rank 0."),
    "DLB664": RemarkEntry(A, "routine", "A name is assumed to be a scalar, which is checked."),
    "DLB665": RemarkEntry(M, "routine", "A call is not analysed, so arrays are fetched for it."),
    "DLB666": RemarkEntry(P, "routine", "Short runs of a compiled loop are repeated as they are."),
    "DLB667": RemarkEntry(P, "routine", "Ranks go through short passes without being told one by one."),
    "DLB670": RemarkEntry(A, "ranks", "The efficiency of a way to deal the loop on the given ranks."),
    "DLB671": RemarkEntry(M, "ranks", "The efficiency on the given ranks is not known."),
    "DLB672": RemarkEntry(A, "ranks", "Fewer ranks take the same time."),
    "DLB673": RemarkEntry(M, "ranks", "A nest over cells could be cut within rows."),
    "DLB674": RemarkEntry(A, "ranks", "What a run has measured."),
    "DLB675": RemarkEntry(A, "ranks", "How many bytes of rows travel."),
    "DLB676": RemarkEntry(A, "ranks", "How long a run takes, and on how many ranks it is shortest."),
    "DLB677": RemarkEntry(A, "ranks", "Predictions beside what a run has measured."),
    "DLB680": RemarkEntry(M, "annotate", "A loop is provably parallel and has no annotation."),
    "DLB681": RemarkEntry(M, "annotate", "A loop without an annotation is not proposed."),
}  # fmt: skip

#: The parts of the compiler that remarks come from, in the order of the text.
PARTS = tuple(dict.fromkeys(entry.part for entry in REMARKS.values()))
