"""Figure 1 on this machine, and passes of a routine on ranks whose speeds have emulated cliffs (`paced`)."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from dlbrt.data.layout import Floats

from papers.findings import Chapter, Extent, Panel, Plot, Section, Series, Table, rounded
from papers.launch import kept_section, run

__all__ = ["kernels", "section"]

KERNELS = "Figure 1: speed against size, on this machine"
TITLE = "On ranks: passes of a routine with emulated cliffs"
PACED = Path(__file__).with_name("paced.py")

#: Products are repeated for so long, and the shortest counts.
ENOUGH_S = 0.3

#: Rows, passes, seconds of a row on the fastest rank; of the speeds of cluster 2, so many rows fit.
ROWS, PASSES, ROW_S = 280, 14, 0.004
SPEEDS = "3.6@66:15,3.0@66:15,3.35@140:15,3.4@300:15"


def kernels(extent: Extent, before: Chapter | None) -> Section:
    """Speeds of two products of matrices, measured now or before."""
    return kept_section(KERNELS, extent, before, _kernels)


def section(extent: Extent, before: Chapter | None) -> Section:
    """Times of passes by model, measured now or before."""
    return kept_section(TITLE, extent, before, _passes)


def _kernels() -> Section:
    sizes = (32, 64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048)
    plain: Callable[[Floats, Floats], object] = lambda a, b: np.einsum("ik,kj->ij", a, b)  # noqa: E731
    blas: Callable[[Floats, Floats], object] = lambda a, b: a @ b  # noqa: E731
    panels = []
    for title, product, most in (("not optimised (einsum)", plain, 768), ("BLAS", blas, 2048)):
        measured = [n for n in sizes if n <= most]
        speeds = [2e-9 * n**3 / _least_s(product, n) for n in measured]
        panels.append(
            Panel(
                title,
                (Series("", tuple(map(float, measured)), rounded(speeds, 4), "-o"),),
                "n",
                "GFLOPS",
                "x",
            )
        )
    caption = "Figure 1: speed of a product of n x n matrices."
    text = "The paper shows a Xeon and GPUs; what is to be seen is that no speed is a constant."
    return Section(KERNELS, text, (), (), (Plot("clarke-1", caption, tuple(panels)),))


def _least_s(product: Callable[[Floats, Floats], object], n: int) -> float:
    a = np.random.default_rng(1).random((n, n))
    product(a, a)
    times: list[float] = []
    while len(times) < 5 or sum(times) < ENOUGH_S:
        begin = time.perf_counter()
        product(a, a)
        times.append(time.perf_counter() - begin)
    return min(times)


def _passes() -> Section:
    arguments = (str(ROWS), str(PASSES), str(ROW_S))
    found = {
        model: [
            float(line) for line in run(4, ("--speeds", SPEEDS), PACED, (model, *arguments)).output.split()
        ]
        for model in ("constant", "piecewise", "akima")
    }
    series = tuple(
        Series(model, tuple(map(float, range(1, PASSES + 1))), rounded(times, 4), "-o")
        for model, times in found.items()
    )
    rows = tuple(
        (model, f"{times[0]:.2f}", f"{min(times):.2f}", f"{sum(times):.2f}", f"{PASSES * times[0]:.2f}")
        for model, times in found.items()
    )
    head = (
        "model",
        "first pass, equal shares, s",
        "fastest pass, s",
        "all passes, s",
        "all with equal shares, s",
    )
    caption = f"{ROWS} rows on 4 ranks, {PASSES} passes; speeds and cliffs `--speeds {SPEEDS}`."
    text = (
        "The balancer of this project moves rows only where that pays, and returns to the best shares "
        "seen; so its constant model does not oscillate for ever as the traditional algorithm does."
    )
    panel = Panel("4 ranks with emulated cliffs", series, "pass", "s")
    plot = Plot("clarke-ranks", "Time of each pass on ranks, by model.", (panel,))
    return Section(TITLE, text, (), (Table(caption, head, rows),), (plot,))
