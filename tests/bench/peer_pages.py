"""What tests/bench/peers.py found: as lines, as tables in Markdown, and as a picture."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.bench.contenders import CONTENDERS

__all__ = ["KEPT", "MEASURED", "markdown", "measured_with", "page", "plot", "show", "write_pages"]

ROOT = Path(__file__).resolve().parents[2]

#: The record that the documents are written from, and what is written.
KEPT, MEASURED = "tests/bench/peers.json", "docs/measured.md"
_PAGE, _PICTURE = "docs/peers.md", "docs/peers.svg"

#: With what all are compared.
BASE = "prange"

#: The rows of the table in MEASURED: a label, and the contenders of which the best one counts.
_POOLS = ("joblib", "joblib_threads", "multiprocessing", "futures", "dask", "ray")
_ROWS = (
    ("`jit`", ("jit",)),
    ("`jit(as_written)`", ("as_written",)),
    ("the best of mpi4py + numba by hand", ("mpi4py", "mpi4py_by_hand")),
    ("Pythran OpenMP, strict", ("pythran_strict",)),
    ("the best of joblib, multiprocessing, mpi4py.futures, dask, ray", _POOLS),
)
_BETWEEN = re.compile(r"(?<=<!-- peers -->\n).*?(?=<!-- end of peers -->)", re.DOTALL)

_ABOUT = """\
# Beside other tools

Ten workloads by `python tests/bench/peers.py --pages`: {date}, {ranks} processors of a machine with
{machine}, CPython {python}, medians of {rounds} rounds in which all take turns (fewer where one takes
seconds). The figures are times over that of numba's `prange` in its default layer on {ranks} threads, from
arrays ready to results ready, transfers included. This project runs on {ranks} ranks, others on {ranks}
ranks, threads or workers. Starting and compiling are not counted.

"""


def ratio(workload: dict[str, Any], contender: str) -> float | None:
    """The median of a contender over that of `BASE`, where both are known."""
    ours, base = (workload["contenders"].get(each, {}).get("median_s") for each in (contender, BASE))
    return ours / base if ours is not None and base is not None else None


def show(name: str, workload: dict[str, Any]) -> None:
    """A paragraph: one line for each contender."""
    print(f"{name}, sizes {' '.join(map(str, workload['sizes']))}", flush=True)
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
    names = dict.fromkeys(each for workload in found.values() for each in workload["contenders"])
    rows = ((CONTENDERS[each].label, _cells(found, each)) for each in names)
    return _table(found, rows) + "\n\\* other bits than the sequential program\n"


def page(record: dict[str, Any]) -> str:
    """The document: how it was measured, the table, and the picture."""
    picture = f"\n![Times over that of prange]({Path(_PICTURE).name})\n"
    return _ABOUT.format(**record) + markdown(record["workloads"]) + picture


def measured_with(text: str, record: dict[str, Any]) -> str:
    """The page of all measurements with a table of a few rows between its marks."""
    found = record["workloads"]
    rows = ((label, _best(found, each)) for label, each in _ROWS)
    place: Callable[[Any], str] = lambda _: _table(found, rows)  # noqa: E731 - no escapes in a replacement
    text, count = _BETWEEN.subn(place, text)
    assert count == 1, f"{MEASURED} has no place for the table"
    return text


def write_pages(record: dict[str, Any]) -> None:
    """Keep a record, and write the documents from it."""
    (ROOT / KEPT).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    (ROOT / _PAGE).write_text(page(record), encoding="utf-8")
    plot(record["workloads"], ROOT / _PICTURE)
    measured = ROOT / MEASURED
    measured.write_text(measured_with(measured.read_text(encoding="utf-8"), record), encoding="utf-8")


def _table(found: dict[str, Any], rows: Iterable[tuple[str, Iterable[str]]]) -> str:
    lines = [f"| | {' | '.join(found)} |", f"| --- |{' --- |' * len(found)}"]
    lines += (f"| {label} | {' | '.join(cells)} |" for label, cells in rows)
    return "\n".join(lines) + "\n"


def _cells(found: dict[str, Any], contender: str) -> Iterable[str]:
    return (_cell(workload, contender) for workload in found.values())


def _best(found: dict[str, Any], contenders: Iterable[str]) -> Iterable[str]:
    for workload in found.values():
        known = [ratio(workload, each) for each in contenders]
        yield f"{min(filter(None, known)):.2f}" if any(known) else ""


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
