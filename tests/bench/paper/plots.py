"""The bars of figures 1.7, 1.9 and 1.10: time over that without balancing, by strategy and size.

TRFD's bars are of both loops together, as the paper's are. Needs matplotlib (extra ``plot``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

from tests.bench.paper.plan import STRATEGIES
from tests.bench.paper.records import Run

__all__ = ["bars", "draw"]

_FIGURES = {"MXM": "figure-1.7-mxm", "TRFD": "figure-1.9-trfd", "AC": "figure-1.10-ac"}
_WIDTH = 0.8 / len(STRATEGIES)


def bars(runs: Iterable[Run], program: str, ranks: int) -> dict[str, list[float]]:
    """For each size, medians over seeds of each strategy's time over none's, in the order of STRATEGIES."""
    seconds: dict[str, dict[int, dict[str, float]]] = {}
    for run in runs:
        words = run.case.split()
        if words[0] == program and run.ranks == ranks:
            size = " ".join(word for word in words[1:] if word not in ("L1", "L2"))
            times = seconds.setdefault(size, {}).setdefault(run.seed, dict.fromkeys(STRATEGIES, 0.0))
            times[run.strategy] += run.elapsed_s
    return {
        size: [median(times[name] / times["none"] for times in seeds.values()) for name in STRATEGIES]
        for size, seeds in seconds.items()
    }


def draw(runs: Sequence[Run], directory: Path) -> list[Path]:
    """Write a picture for each program that was run; SystemExit with what to install without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        raise SystemExit("--plot needs matplotlib: install the project with its extra `plot`") from None
    matplotlib.use("Agg")
    directory.mkdir(parents=True, exist_ok=True)
    programs = [name for name in _FIGURES if any(run.case.startswith(f"{name} ") for run in runs)]
    return [_figure(runs, name, directory / f"{_FIGURES[name]}.png") for name in programs]


def _figure(runs: Sequence[Run], program: str, path: Path) -> Path:
    from matplotlib import pyplot

    sizes = sorted({run.ranks for run in runs if run.case.startswith(f"{program} ")})
    width = max(8, 6 * len(sizes))
    figure, (panels,) = pyplot.subplots(
        1, len(sizes), figsize=(width, 4), sharey=True, squeeze=False, layout="constrained"
    )
    for panel, ranks in zip(panels, sizes, strict=True):
        found = bars(runs, program, ranks)
        for place, name in enumerate(STRATEGIES):
            left = [size + place * _WIDTH for size in range(len(found))]
            panel.bar(left, [heights[place] for heights in found.values()], _WIDTH, label=name)
        panel.set_xticks(
            [size + _WIDTH * (len(STRATEGIES) - 1) / 2 for size in range(len(found))], list(found)
        )
        panel.set_title(f"{program}, P = {ranks}")
        panel.axhline(1.0, color="black", linewidth=0.5)
    panels[0].set_ylabel("time over that without balancing")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(STRATEGIES))
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
    return path
