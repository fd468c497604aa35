"""Figure 1.2 on this machine, and the 28 cases on ranks, as `tests/bench/strategies.py` measures them."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import cos, pi, sin, sqrt
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from papers.findings import Chapter, Extent, Panel, Plot, Section, Series, Table, rounded
from papers.launch import RunError, failure, kept_section

__all__ = ["bars", "section", "shown", "speeds"]

SPEEDS = "Figure 1.2: processor speeds by application"
TITLE = "On ranks: the 28 cases with emulated load"
BENCH = Path(__file__).resolve().parents[3] / "tests" / "bench" / "strategies.py"
STRATEGIES = ("GCDLB", "GDDLB", "LCDLB", "LDDLB", "auto")

#: Seconds of a loop without load, seeds, and minutes after which no other launch begins.
LOOP_S, SEEDS, MINUTES = 0.6, 2, 15.0

Rows = list[list[float]]


def speeds(extent: Extent, before: Chapter | None) -> Section:
    """Times of three kernels, measured now or before."""
    return kept_section(SPEEDS, extent, before, _speeds)


def section(extent: Extent, before: Chapter | None) -> Section:
    """The cases on ranks, measured now or before."""
    return kept_section(TITLE, extent, before, _cases)


def _speeds() -> Section:
    """Two processors that are to be had on one machine: loops of Python, and numpy."""
    n = 96
    matrix = np.random.default_rng(1).random((n, n))
    positive = matrix @ matrix.T + n * np.eye(n)
    signal = np.random.default_rng(2).random(1024)
    pairs: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "matrix multiplication": (lambda: _product(matrix.tolist()), lambda: matrix @ matrix),
        "Cholesky": (lambda: _cholesky(positive.tolist()), lambda: np.linalg.cholesky(positive)),
        "FFT": (lambda: _fft(signal.tolist()), lambda: np.fft.fft(signal)),
    }
    ratios = [_seconds(slow) / _seconds(fast) for slow, fast in pairs.values()]
    places = tuple(map(float, range(len(pairs))))
    panel = Panel(
        "numpy over loops of Python", (Series("", places, rounded(ratios, 3), bars=True),),
        "", "times as fast", "y", tuple(pairs),
    )  # fmt: skip
    text = (
        "The paper compares a SPARC LX with a SPARC 1: how much faster depends on the application. So do "
        "loops of Python and numpy on this machine."
    )
    caption = "Figure 1.2: normalized processor speed of two ways to compute, by application."
    return Section(SPEEDS, text, (), (), (Plot("zaki-1-2", caption, (panel,)),))


def _seconds(action: Callable[[], object]) -> float:
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return min(times)


def _product(a: Rows) -> Rows:
    columns = list(zip(*a, strict=True))
    return [[sum(x * y for x, y in zip(row, column, strict=True)) for column in columns] for row in a]


def _cholesky(a: Rows) -> Rows:
    lower = [[0.0] * len(a) for _ in a]
    for i in range(len(a)):
        for j in range(i + 1):
            rest = a[i][j] - sum(x * y for x, y in zip(lower[i][:j], lower[j][:j], strict=True))
            lower[i][j] = sqrt(rest) if i == j else rest / lower[j][j]
    return lower


def _fft(x: Sequence[complex]) -> list[complex]:
    if len(x) == 1:
        return list(x)
    even, odd = _fft(x[::2]), _fft(x[1::2])
    turned = [
        complex(cos(2 * pi * k / len(x)), -sin(2 * pi * k / len(x))) * each for k, each in enumerate(odd)
    ]
    return [a + b for a, b in zip(even, turned, strict=True)] + [
        a - b for a, b in zip(even, turned, strict=True)
    ]


def _cases() -> Section:
    """Run the benchmark, and show the bars of figures 1.7, 1.9 and 1.10 and what was committed to."""
    with tempfile.TemporaryDirectory(prefix="papers-") as folder:
        found = Path(folder) / "runs.json"
        options = ["--seconds", str(LOOP_S), "--seeds", str(SEEDS), "--time-budget", str(MINUTES)]
        done = subprocess.run(
            [sys.executable, str(BENCH), *options, "--json", str(found)],
            capture_output=True,
            text=True,
            check=False,
        )
        if not found.exists():
            raise RunError(f"{BENCH.name}: {failure(done)}")
        measured = json.loads(found.read_text(encoding="utf-8"))
    return shown(measured)


def shown(measured: Mapping[str, Any]) -> Section:
    """A table of all rows, and a plot of each program."""
    rows = measured["table"]
    head = ("program", "P", "best there", "predicted there", "best here", "committed to", "best over none",
            "committed over best", "seeds")  # fmt: skip
    lines = tuple(
        (row["case"], str(row["ranks"]), row["paper_best"], row["paper_chosen"], row["best"], row["chosen"],
         f"{row['over_none'][row['best']]:.2f}", f"{row['auto_over_best']:.2f}", str(row["seeds"]))
        for row in rows
    )  # fmt: skip
    settings, host = measured["settings"], measured["hosts"][0]
    text = (
        f"More ranks than cores: iterations wait for their time, a loop for {settings['seconds']:g} s "
        f"without load, t_l = {settings['duration_s']:g} s of the paper's, all by one factor a program. "
        "*Best over none*: time over that without balancing; *committed over best*: `auto` over the best "
        f"of the four, the same loads; medians over seeds. {len(measured['failures'])} launches failed. "
        f"Messages here cost less than on the paper's Ethernet. {host['date'][:10]}, {host['cores']} cores "
        f"of a {host['processor']}, shared with other work, by which single rows scatter."
    )
    best = sum(row["over_none"][row["best"]] < 1 for row in rows)
    caption = (
        f"Table 1.4 on ranks: balancing gains in {best} of {len(rows)} rows; `auto` over the best: median "
        f"{median(row['auto_over_best'] for row in rows):.3f}, highest "
        f"{max(row['auto_over_best'] for row in rows):.2f}."
    )
    plots = tuple(_plot(program, measured["runs"]) for program in ("MXM", "TRFD", "AC"))
    return Section(TITLE, text, (), (Table(caption, head, lines),), plots)


def bars(runs: Iterable[Mapping[str, Any]], program: str, ranks: int) -> dict[str, list[float]]:
    """For each size, medians over seeds of each strategy's time over none's, in the order of `STRATEGIES`.

    TRFD's are of both loops together, as the paper's bars are.
    """
    seconds: dict[str, dict[int, dict[str, float]]] = {}
    for run in runs:
        words = run["case"].split()
        if words[0] == program and run["ranks"] == ranks:
            size = " ".join(word for word in words[1:] if word not in ("L1", "L2"))
            times = seconds.setdefault(size, {}).setdefault(
                run["seed"], dict.fromkeys(("none", *STRATEGIES), 0.0)
            )
            times[run["strategy"]] += run["elapsed_s"]
    return {
        size: [median(times[name] / times["none"] for times in seeds.values()) for name in STRATEGIES]
        for size, seeds in seconds.items()
    }


def _plot(program: str, runs: Sequence[Mapping[str, Any]]) -> Plot:
    panels = []
    for ranks in (4, 16):
        found = bars(runs, program, ranks)
        places = tuple(map(float, range(len(found))))
        heights = zip(*found.values(), strict=True)
        series = tuple(
            Series(name, places, rounded(each, 4), bars=True)
            for name, each in zip(STRATEGIES, heights, strict=False)
        )
        ticks = tuple(size.replace(" ", "\n") for size in found)
        panels.append(Panel(f"{program}, P = {ranks}", series, "", "time over no balancing", ticks=ticks))
    number = {"MXM": "1.7", "TRFD": "1.9", "AC": "1.10"}[program]
    caption = f"Figure {number} on ranks: {program}, time over that without balancing."
    return Plot(f"zaki-{number.replace('.', '-')}-ranks", caption, tuple(panels))
