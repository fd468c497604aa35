"""The sieve run for real: cut by lengths, by the formula, by a curve fitted, by what `profile` measures.

Every cut is judged twice: by counted divisions, and by seconds of processor time, the part of each processor
run by the sample `primes.py`, one after the other. What is measured is that of a first pass in equal lengths:
by groups of 5 odd numbers (`profile`), and as one sample a processor, to which a curve is fitted.
"""

from __future__ import annotations

import importlib.util
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import isqrt
from pathlib import Path
from statistics import median
from types import ModuleType

import numpy as np
from dlbrt.partition import fit
from dlbrt.partition.imbalance import efficiency, idle_share, inefficiency
from dlbrt.partition.integer import prefix_sums

from papers.findings import Chapter, Extent, Section, Table
from papers.launch import kept_section, run
from papers.swartz import sieve

__all__ = ["Meter", "clocked", "counted", "cuts", "section"]

TITLE = "The sieve, run and timed here"
MAXIMUM, NODES, GROUP = 2**22, 16, 5

#: On ranks: the program, how many, up to where, how often.
CUT_BY = Path(__file__).with_name("cut_by.py")
RANKS, RANKS_MAXIMUM, ROUNDS = 4, 10**6, 5

_HEAD = ("cut", "L_E, %", "L_I, %", "idle, %", "first / last")
_CUTS = {"length": "equal lengths", "formula": "formula (4)", "profile": "`profile`, groups of 5"}

#: What some positions took one after the other.
Meter = Callable[[range], float]


def section(extent: Extent, before: Chapter | None) -> Section:
    """Cuts judged by counted divisions, always, and by times, measured now or before."""
    counts = judged(counted(MAXIMUM), "Counted divisions.")
    timed = kept_section(TITLE, extent, before, lambda: Section(TITLE, "", (), (counts, *measured())))
    text = (
        f"Primes up to {MAXIMUM} for {NODES} processors: L_E = 100 - L_I by (2) and (3), the share of idle "
        "time, the first processor's time over the last's. `profile` measures groups of 5 odd numbers in a "
        "first pass of equal lengths; the curve is fitted to the 16 times of that pass."
    )
    return Section(TITLE, text, (), (counts, *timed.tables[1:]))


def measured() -> tuple[Table, Table]:
    """The parts one after the other, and on ranks."""
    return judged(clocked(MAXIMUM), "Seconds of processor time, one part after the other."), on_ranks()


def on_ranks() -> Table:
    """The loop on ranks without balancing, by its three cuts: medians of what each rank computed."""
    seconds: dict[str, list[list[float]]] = {"length": [], "formula": [], "profile": []}
    with tempfile.TemporaryDirectory(prefix="papers-") as folder:
        options = ("--strategy", "none", "--learned", str(Path(folder) / "learned.json"))
        arguments = {name: (name, str(RANKS_MAXIMUM)) for name in seconds}
        run(RANKS, options, CUT_BY, arguments["profile"])  # measures the density
        for _ in range(ROUNDS):
            for name, found in seconds.items():
                (loop,) = run(RANKS, options, CUT_BY, arguments[name]).loops
                found.append([rank["compute_s"] for rank in loop["per_rank"]])
    rows = []
    for name, found in seconds.items():
        work = [median(times) for times in zip(*found, strict=True)]
        figures = (efficiency(work), inefficiency(work), idle_share(work))
        rows.append((_CUTS[name], *(f"{each:.2f}" for each in figures), f"{work[0] / work[-1]:.3f}"))
    caption = (
        f"Seconds of computing on {RANKS} ranks of a machine of 2 shared cores, primes up to "
        f"{RANKS_MAXIMUM}, medians of {ROUNDS} runs."
    )
    return Table(caption, _HEAD, tuple(rows))


def counted(maximum: int) -> Meter:
    """The number of divisions."""
    prefix = prefix_sums(sieve.operations(maximum))
    return lambda run: float(prefix[run.stop] - prefix[run.start])


def clocked(maximum: int) -> Meter:
    """Seconds of processor time of the sample's own function, called in a loop."""
    sample = _sample()
    least_factor, primes = sample.least_factor, sample.odd_primes(isqrt(maximum))

    def took(run: range) -> float:
        begin = time.process_time()
        for x in range(3 + 2 * run.start, 3 + 2 * run.stop, 2):
            least_factor(x, primes)
        return time.process_time() - begin

    return took


def cuts(maximum: int, ranks: int, group: int, took: Meter) -> Iterator[tuple[str, Sequence[int]]]:
    """Name and boundaries of each cut."""
    linear = sieve.by_length(maximum, ranks)
    yield "equal lengths", linear
    yield "formula (4)", sieve.by_formula(maximum, ranks)
    density = sieve.first_pass(maximum, linear, group, took)
    edges = np.array(linear[1:])
    found = fit.best(3 + 2 * edges, density.cumulative(edges), sieve.legendre)
    yield "curve fitted", sieve.by_fit(found, maximum, ranks)
    yield f"`profile`, groups of {density.group}", density.cut(ranks)


def judged(took: Meter, caption: str) -> Table:
    """A row a cut."""
    rows = []
    for name, bounds in cuts(MAXIMUM, NODES, GROUP, took):
        work = [took(range(low, high)) for low, high in pairwise(bounds)]
        found = (efficiency(work), inefficiency(work), idle_share(work))
        rows.append((name, *(f"{each:.2f}" for each in found), f"{work[0] / work[-1]:.3f}"))
    return Table(caption, _HEAD, tuple(rows))


def _sample() -> ModuleType:
    path = Path(__file__).resolve().parents[2] / "primes.py"
    spec = importlib.util.spec_from_file_location("primes", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
