"""Names shared by the compiler, the runtime and the commands; standard library only.

The contract with users lists them (strategies, clauses, environment variables). A name stands here
once; every other module, and the documentation test, takes it from here.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Final

#: Version of compiler and runtime, which go together.
VERSION: Final = "0.1.0"


class Distribution(Enum):
    """How iterations, and the rows that they index, are dealt to ranks."""

    BLOCK = "BLOCK"
    CYCLIC = "CYCLIC"
    WHOLE = "WHOLE"


class Mode(Enum):
    """What the loop does with an array: read it, overwrite its rows wholly, or both."""

    READ = "r"
    WRITE = "w"
    UPDATE = "rw"


class OptionError(ValueError):
    """A malformed option or environment variable: what was expected, and what was found."""


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """``; did you mean X?`` for the known spelling nearest to ``word``; empty if none is near or it is known.

    ``cutoff``: the least similarity, as `difflib.get_close_matches` has it.
    """
    import difflib  # only to explain an error

    names = sorted(set(known))
    folded = {name.casefold(): name for name in names}
    if word in names:
        return ""
    if word.casefold() in folded:
        return f"; did you mean {folded[word.casefold()]}? (capital and small letters differ)"
    close = difflib.get_close_matches(word, names, n=1, cutoff=cutoff) or [
        folded[name] for name in difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=cutoff)
    ]
    return f"; did you mean {close[0]}?" if close else ""


DISTRIBUTIONS: Final = tuple(d.value for d in Distribution)

#: Every strategy name of the contract (section 4), in its order.
STRATEGIES: Final = (
    "auto", "none", "GCDLB", "GDDLB", "LCDLB", "LDDLB", "diffusion",
    "SS", "FSC", "mFSC", "GSS", "TSS", "FAC", "FAC2", "WF",
    "AWF", "AWF_B", "AWF_C", "AWF_D", "AWF_E", "AF", "steal",
)  # fmt: skip

#: Strategies of other authors, to compare with.
BASELINES: Final = ("periodic", "gradient", "affinity")

#: What the statistics say of a loop that rank 0 ran alone.
LOCAL: Final = "local"

#: Option of ``dlbc run`` -> environment variable read by generated programs (section 6).
ENVIRONMENT: Final = {
    "strategy": "DLB_STRATEGY",
    "group": "DLB_GROUP",
    "adapt": "DLB_ADAPT",
    "stats": "DLB_STATS",
    "trace": "DLB_TRACE",
    "progress": "DLB_PROGRESS",
    "load": "DLB_LOAD",
    "speeds": "DLB_SPEEDS",
    "weights": "DLB_WEIGHTS",
    "learned": "DLB_LEARNED",
    "model": "DLB_MODEL",
}

#: What the option ``group`` may say besides the size K: how groups are formed, and how they go together.
GROUP_KINDS: Final = ("block", "random", "speed", "near")
GROUP_FLAGS: Final = ("masters", "exchange", "dynamic")

#: Pairs for each rank below which folding is left: single iterations can be dealt more evenly.
MIN_PAIRS: Final = 4

#: In place of a list of weights: those that the last run of the program on these hosts has measured.
LAST: Final = "last"

#: Likewise: nothing is known, and iterations are dealt in turn, so that every rank's are a fair sample.
TRIAL: Final = "trial"
