"""Findings: what a check of `dlbc doctor` has come to, and words that several checks use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from dlbc.commands.doctor.facts import Facts, RankFacts

#: So many items are shown of a list.
_SHOWN = 3


class CheckStatus(Enum):
    """What a check has come to."""

    OK = "ok"
    WARNING = "warning"
    BROKEN = "broken"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """One thing that a run needs: what was expected, what was found, and what to do, empty for nothing."""

    check: str
    status: CheckStatus
    found: str
    expected: str = ""
    advice: str = ""


Findings = Iterator[CheckFinding]


def fine(check: str, found: str, advice: str = "") -> CheckFinding:
    """All is as it should be; ``advice`` may make it better."""
    return CheckFinding(check, CheckStatus.OK, found, "", advice)


def warning(check: str, expected: str, found: str, advice: str) -> CheckFinding:
    """A run works, but is slow, or is likely to fail later."""
    return CheckFinding(check, CheckStatus.WARNING, found, expected, advice)


def broken(check: str, expected: str, found: str, advice: str) -> CheckFinding:
    """A run fails, hangs, or is another one than was asked for."""
    return CheckFinding(check, CheckStatus.BROKEN, found, expected, advice)


def ranks_of(facts: Facts) -> Sequence[RankFacts]:
    """The ranks, if they have found each other."""
    if facts.start is None or len(facts.start.worlds) != 1:
        return ()
    return facts.start.worlds[0]


def places_of(facts: Facts) -> str:
    """The hosts of the ranks, a few of them by name."""
    return some(sorted({rank.host for rank in ranks_of(facts)}))


def some(items: Sequence[str]) -> str:
    """The first few items, and how many more there are."""
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return ", ".join(items[:_SHOWN]) + more


def first_line(text: str) -> str:
    """The first line of a version text, with single blanks."""
    return " ".join("".join(text.splitlines()[:1]).split())


def counted(number: int, what: str) -> str:
    """``1 rank``, ``2 ranks``."""
    return f"{number} {what}{'s' * (number != 1)}"
