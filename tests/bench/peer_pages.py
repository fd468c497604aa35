"""What tests/bench/peers.py found: as lines, as a table in Markdown, and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.bench.contenders import CONTENDERS

__all__ = ["markdown", "plot", "show"]

#: With what all are compared.
BASE = "prange"


def ratio(workload: dict[str, Any], contender: str) -> float | None:
    """The median of a contender over that of `BASE`, where both are known."""
    ours, base = (workload["contenders"].get(each, {}).get("median_s") for each in (contender, BASE))
    return ours / base if ours is not None and base is not None else None


def show(name: str, workload: dict[str, Any]) -> None:
    """A paragraph: one line for each contender."""
    print(f"{name} {' '.join(map(str, workload['sizes']))}", flush=True)
    for each, figures in workload["contenders"].items():
        if "median_s" not in figures:
            print(f"  {CONTENDERS[each].label:28s} {figures['problem']}", flush=True)
            continue
        over = ratio(workload, each)
        least, most = min(figures["times_s"]), max(figures["times_s"])
        compared = "" if over is None else f"{over:.3f}"
        print(
            f"  {CONTENDERS[each].label:28s} {figures['median_s']:8.4f} s ({least:.4f} to {most:.4f})"
            f"  {compared:>8s}  {bits(figures):12s}  first {figures['first_s']:.2f} s",
            flush=True,
        )


def bits(figures: dict[str, Any]) -> str:
    """Whether the bits are those of the sequential program, or how far off they are."""
    return "same bits" if figures["off"] == 0 else f"off {figures['off']:.0e}"


def markdown(found: dict[str, Any]) -> str:
    """Contenders by workloads: ratios to `BASE`; other bits are marked."""
    names = list(dict.fromkeys(each for workload in found.values() for each in workload["contenders"]))
    lines = [f"| | {' | '.join(found)} |", f"| --- |{' --- |' * len(found)}"]
    for each in names:
        cells = (_cell(workload, each) for workload in found.values())
        lines.append(f"| {CONTENDERS[each].label} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", "\\* other bits than the sequential program", ""])


def _cell(workload: dict[str, Any], contender: str) -> str:
    over = ratio(workload, contender)
    if over is None:
        return ""
    return f"{over:.2f}" + ("\\*" if workload["contenders"][contender]["off"] else "")


def plot(found: dict[str, Any], path: Path) -> None:
    """Ratios to `BASE` on a logarithmic axis, a row of points for each workload; needs matplotlib."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(each for workload in found.values() for each in workload["contenders"]))
    height = max(1.5 + 0.45 * len(found), 0.4 + 0.2 * len(names))
    figure = Figure(figsize=(9, height), layout="constrained")
    axes = figure.subplots()
    markers = "osD^v<>pPX*hH8d"
    for number, each in enumerate(names):
        known = [(ratio(workload, each), row) for row, workload in enumerate(found.values())]
        points = [(over, row) for over, row in known if over is not None]
        if points:
            ours = CONTENDERS[each].clause is not None
            axes.plot(
                *zip(*points, strict=True),
                linestyle="none",
                marker=markers[number % len(markers)],
                markersize=9 if ours else 6,
                color=f"C{number % 10}",
                markeredgecolor="black" if ours else "none",
                label=CONTENDERS[each].label,
            )
    axes.axvline(1.0, color="grey", linewidth=0.8)
    axes.set(xscale="log", xlabel=f"time / {CONTENDERS[BASE].label}", yticks=range(len(found)))
    axes.set_yticklabels(list(found))
    axes.invert_yaxis()
    figure.legend(loc="outside right upper", fontsize="small")
    figure.savefig(path)
