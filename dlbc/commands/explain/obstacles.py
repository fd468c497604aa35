"""The one thing in the way of a loop, of everything that was found: the hardest to remove."""

from __future__ import annotations

from enum import Enum

from dlbrt.records import dataclass

from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.passes.propose_loops import RefusedLoop
from dlbc.source import Source, SourcePlace


class Obstacle(Enum):
    """Why a loop is not proposed, from what cannot be helped to what is a matter of form."""

    NOT_RUN = "Python does not run the loop"
    NEEDS_EARLIER = "an iteration needs what an earlier one computes"
    ENDS_EARLY = "the loop may end early"
    HANDS_OUT = "the loop gives control away while it runs"
    IN_ORDER = "random numbers, files or input are used in order"
    CHANGES_SHARED = "an iteration changes what others may use"
    NOT_PROVED = "iterations may meet in an array; neither this nor the contrary is proved"
    UNSEEN = "it calls what dlbc does not see"
    BY_DATA = "data decides whether iterations meet"
    FORM = "it is written in a form that dlbc does not take"


#: The obstacle of each code; others are `FORM`.
_CODES = {
    Obstacle.NOT_RUN: "DLB502 DLB505 DLB506",
    Obstacle.NEEDS_EARLIER: "DLB301 DLB303 DLB310 DLB311 DLB324 DLB325 DLB326",
    Obstacle.ENDS_EARLY: "DLB202 DLB203",
    Obstacle.HANDS_OUT: "DLB204 DLB205",
    Obstacle.IN_ORDER: "DLB402 DLB403 DLB404 DLB405",
    Obstacle.CHANGES_SHARED: (
        "DLB309 DLB315 DLB406 DLB407 DLB408 DLB409 DLB410 DLB414 DLB416 DLB417 DLB418 DLB419 DLB420 DLB422 "
        "DLB425 DLB427 DLB428"
    ),
    Obstacle.NOT_PROVED: "DLB302 DLB304 DLB305 DLB306 DLB307 DLB316 DLB413 DLB313",
    Obstacle.UNSEEN: "DLB423",
}
_BY_CODE = {code: obstacle for obstacle, codes in _CODES.items() for code in codes.split()}
_ORDER = list(Obstacle)


@dataclass(frozen=True)
class InTheWay:
    """The obstacle of a loop, a sentence on it, where it stands, and how many other things are in the way."""

    obstacle: Obstacle
    sentence: str
    place: SourcePlace
    code: str = ""
    others: int = 0


def in_the_way(refused: RefusedLoop, source: Source) -> InTheWay:
    """What is in the way of a loop that is not proposed."""
    if refused.findings:
        first = min(refused.findings, key=_hardness)
        others = len({d.code for d in refused.findings} - {first.code})
        return InTheWay(_obstacle(first), source.by_cells(first.message), first.place, first.code, others)
    place = source.place_of(refused.loop.node)
    head = SourcePlace(place.line, place.column, place.line, place.column + len("for"))
    if refused.watched:
        names = _listed(name for name, _ in refused.watched)
        text = f"{names} may change what iterations share; with an annotation, that is checked while it runs"
        return InTheWay(Obstacle.UNSEEN, text, head)
    if refused.by_name:
        name, called = refused.by_name[0]
        text = f"`{name}` may be a method of another class, which this file does not show"
        text += "; with an annotation, that is looked at before the loop"
        return InTheWay(Obstacle.UNSEEN, text, called)
    text = f"data decides whether two iterations store to one element of {_listed(refused.by_data)}"
    return InTheWay(Obstacle.BY_DATA, f"{text}; with an annotation, that is looked at before the loop", head)


def _obstacle(finding: Diagnostic) -> Obstacle:
    return _BY_CODE.get(finding.code, Obstacle.FORM)


def _hardness(finding: Diagnostic) -> tuple[int, SourcePlace]:
    return _ORDER.index(_obstacle(finding)), finding.place


def _listed(names: object) -> str:
    return ", ".join(f"`{name}`" for name in dict.fromkeys(names))  # type: ignore[call-overload]
