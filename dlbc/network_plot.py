"""Figure 1.6 of Zaki, Li, Parthasarathy, of this network: three patterns, as measured and as fitted.

matplotlib is an optional extra (``plot``), and imported where something is drawn.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

from dlbrt.observe.networks import Calibration

__all__ = ["check_plot", "draw"]

#: A pattern's field, its name in the figure, and how its samples are marked.
_PATTERNS = (
    ("all_to_all", "all-to-all", "o"),
    ("all_to_one", "all-to-one", "s"),
    ("one_to_all", "one-to-all", "^"),
)

#: Points of a curve between two numbers of ranks.
_SMOOTH = 8


def check_plot(path: str) -> str:
    """Why no figure can be written there, and what to try; nothing if it can."""
    if find_spec("matplotlib") is None:
        return "--plot needs matplotlib, which is not installed: pip install 'dlbc[plot]'"
    from matplotlib.backend_bases import FigureCanvasBase

    known = sorted(FigureCanvasBase.get_supported_filetypes())
    place = Path(path)
    if place.suffix[1:].lower() not in known:
        return f"--plot: expected a file named as one of {', '.join(known)}, found {path!r}"
    directory = place.absolute().parent
    if place.is_dir() or not os.access(place if place.exists() else directory, os.W_OK):
        return f"--plot: {path} cannot be written: choose a file in an existing, writable directory"
    return ""


def draw(calibration: Calibration, path: str) -> None:
    """Write the figure; OSError where that is not possible."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(7, 5), layout="constrained")
    axes = figure.add_subplot()
    network, size = calibration.networks.whole, calibration.site.size
    ranks = [2 + step / _SMOOTH for step in range((size - 2) * _SMOOTH + 1)]
    for field, name, marker in _PATTERNS:
        pattern, samples = getattr(network, field), getattr(calibration.samples, field)
        fitted = [pattern.seconds(p) * 1e3 for p in ranks]
        [line] = axes.plot(ranks, fitted, label=f"{name}, fitted")
        measured = [seconds * 1e3 for _, seconds in samples]
        axes.plot(
            [p for p, _ in samples], measured, marker, color=line.get_color(), label=f"{name}, measured"
        )
    axes.set_xlabel("ranks")
    axes.set_ylabel("time [ms]")
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title(f"latency {network.latency_s * 1e6:.3g} us, bandwidth {network.bandwidth / 1e6:.4g} MB/s")
    axes.legend()
    figure.savefig(path, dpi=150)
