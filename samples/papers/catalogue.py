"""The list of the papers' numbers (`catalogue.toml`), and how what is found is held against the print.

Each number has what the paper prints, what an independent computation by its formulas gave, and a verdict.
The verdict is checked, not believed: a number is reproduced exactly if what is found here agrees with the
print in all digits printed, rounded or cut off there (papers do either).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

__all__ = ["PAPERS", "Number", "Verdict", "agree", "numbers"]

#: The folders of `samples/papers`, in the order of the document.
PAPERS = ("zaki", "swartz", "ciegis", "clarke", "heirich")

_NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?")
_RANGE = re.compile(r"\s*\.\.\s*")


class Verdict(Enum):
    """What became of a number."""

    REPRODUCED = "reproduced"
    MISPRINT = "misprint"
    NOT_REPRODUCED = "does not reproduce"
    NOT_PRINTED = "not printed"


@dataclass(frozen=True, slots=True)
class Number:
    """A number, or a row of them.

    ``recomputed`` was found by an independent computation; empty where there is nothing to compute. ``free``
    names what the paper leaves open (a seed, a thickness), on which the value depends.
    """

    name: str
    place: str
    what: str
    printed: str
    recomputed: str
    verdict: Verdict
    why: str = ""
    free: str = ""

    @property
    def paper(self) -> str:
        """The paper's folder."""
        return self.name.partition(".")[0]


@cache
def numbers() -> Mapping[str, Number]:
    """All numbers by name, in the order of the list; ValueError for an entry that is none."""
    text = Path(__file__).with_name("catalogue.toml").read_text(encoding="utf-8")
    found = {
        f"{paper}.{name}": _number(f"{paper}.{name}", entry)
        for paper, entries in tomllib.loads(text).items()
        for name, entry in entries.items()
    }
    if strange := {number.paper for number in found.values()}.difference(PAPERS):
        raise ValueError(f"catalogue.toml: expected the papers {', '.join(PAPERS)}, found {strange}")
    return found


def _number(name: str, entry: Mapping[str, str]) -> Number:
    try:
        return Number(name, **{**entry, "verdict": Verdict(entry["verdict"])})  # type: ignore[arg-type]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"catalogue.toml, {name}: {error}") from error


def agree(printed: str, found: str) -> bool | None:
    """Whether the second text has the numbers of the first, rounded or cut off to its digits.

    A range ``a..b`` agrees with what lies in it. None where the first has no numbers to compare.
    """
    if not _values(printed):
        return None
    if _RANGE.search(found) or _RANGE.search(printed):
        return _overlap(printed, found)
    expected, values = _values(printed), _values(found)
    if len(expected) != len(values):
        return False
    return all(_same(a, float(b)) for a, b in zip(expected, values, strict=True))


def _overlap(one: str, other: str) -> bool:
    (low, high), (least, most) = ((min(each), max(each)) for each in (_floats(one), _floats(other)))
    return least <= high and low <= most


def _same(printed: str, found: float) -> bool:
    """Rounded to the digits printed, or cut off after them."""
    unit, expected = _place(printed), float(printed)
    cut_off = 0 <= abs(found) - abs(expected) < unit * (1 - 1e-9) and found * expected >= 0
    return cut_off or abs(found - expected) <= unit / 2 * (1 + 1e-9)


def _floats(text: str) -> list[float]:
    return [float(each) for each in _values(text)]


def _values(text: str) -> list[str]:
    return _NUMBER.findall(_RANGE.sub(" ", text))


def _place(text: str) -> float:
    """One unit in the last place."""
    digits, _, exponent = text.partition("e")
    return float(10 ** (int(exponent or 0) - len(digits.partition(".")[2])))
