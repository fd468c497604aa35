"""Names shared by the compiler, the runtime and the commands; standard library only.

The contract with users lists them (strategies, clauses, environment variables). Each name is defined once,
here; every other module, and the documentation test, takes it from here.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Final

#: Version of compiler and runtime, which go together.
VERSION: Final = "0.2.0"


#: How the comments of annotations begin.
MARK: Final = "# dlb:"

#: How the names of kernels begin in generated programs.
KERNEL_PREFIX: Final = "_dlb_loop_"
#: Of the compiled iterations of a loop, and of the condition under which they are.
CHUNK_PREFIX: Final = "_dlb_chunk_"
FITS_PREFIX: Final = "_dlb_fits_"
#: Of the passes of a routine, which the ranks go through without rank 0.
AHEAD_PREFIX: Final = "_dlb_ahead_"


class Distribution(Enum):
    """How iterations, and the rows that they access, are dealt to ranks."""

    BLOCK = "BLOCK"
    CYCLIC = "CYCLIC"
    WHOLE = "WHOLE"


class Mode(Enum):
    """How the loop uses an array: it reads rows, overwrites them completely, or both."""

    READ = "r"
    WRITE = "w"
    UPDATE = "rw"


class OptionError(ValueError):
    """A malformed option or environment variable: what was expected, and what was found."""


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """``; did you mean X?`` for the known name nearest to ``word``; empty if none is near or ``word`` is
    known.

    ``cutoff``: the least similarity, as in `difflib.get_close_matches`.
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

#: Every strategy of the contract (section 4), in its order.
STRATEGIES: Final = (
    "auto", "none", "GCDLB", "GDDLB", "LCDLB", "LDDLB", "diffusion",
    "SS", "FSC", "mFSC", "GSS", "TSS", "FAC", "FAC2", "WF",
    "AWF", "AWF_B", "AWF_C", "AWF_D", "AWF_E", "AF", "steal",
)  # fmt: skip

#: Strategies of other authors, for comparison.
BASELINES: Final = ("periodic", "gradient", "affinity")

#: What a clause or an option may name.
AVAILABLE: Final = (*STRATEGIES, *BASELINES)

#: The strategy in the statistics of a loop that rank 0 ran alone.
LOCAL: Final = "local"

#: The environment variable that generated programs read, for each option of ``dlbc run`` (section 6).
ENVIRONMENT: Final = {
    "strategy": "DLB_STRATEGY",
    "group": "DLB_GROUP",
    "adapt": "DLB_ADAPT",
    "history": "DLB_HISTORY",
    "trust": "DLB_TRUST",
    "threads": "DLB_THREADS",
    "stats": "DLB_STATS",
    "trace": "DLB_TRACE",
    "progress": "DLB_PROGRESS",
    "summary": "DLB_SUMMARY",
    "load": "DLB_LOAD",
    "speeds": "DLB_SPEEDS",
    "weights": "DLB_WEIGHTS",
    "learned": "DLB_LEARNED",
    "model": "DLB_MODEL",
    "timeout": "DLB_TIMEOUT",
    "fault_tolerant": "DLB_FAULT_TOLERANT",
}

#: The file, beside the plan of ``dlbc run``, that rank 0 makes when the program begins, where ranks may die,
#: and writes to when it ends in a way of its own.
BEGAN: Final = "began"

#: The directory, likewise, in which each process that watches ranks leaves a file before it does so.
WATCHERS: Final = "watchers"

#: How the lines begin that the programs of ``dlbc doctor`` print.
FACTS: Final = "dlbc-facts "

#: The option ``history``: by which windows speeds are measured.
HISTORIES: Final = ("latest", "all")

#: Words of the option ``group`` besides the size K: how groups are formed, and how they cooperate.
GROUP_KINDS: Final = ("block", "random", "speed", "near")
GROUP_FLAGS: Final = ("masters", "exchange", "dynamic")

#: With fewer pairs for each rank a loop is not folded: single iterations can be dealt more evenly.
MIN_PAIRS: Final = 4

#: In place of a list of weights: those measured by the last run of the program on these hosts.
LAST: Final = "last"

#: Likewise: nothing is known, and iterations are dealt in turn, so that every rank's are a fair sample.
TRIAL: Final = "trial"
