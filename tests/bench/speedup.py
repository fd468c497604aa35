"""Speed-up over plain Python: measured, as a picture for README, and in a sentence.

    python -m tests.bench.speedup                  # all, some minutes; writes the record and the picture
    python -m tests.bench.speedup --only mxm,ac    # these again
    python -m tests.bench.speedup --only ''        # the picture alone

The workloads and the way to measure are those of tests/bench/peers.py; sizes are such that plain Python takes
some seconds. What is kept in ``RECORD`` has the form of that module's record.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "tests" / "bench" / "speedup.json"
PICTURE = ROOT / "docs" / "speedup.svg"

SIZES: dict[str, tuple[int, ...]] = {
    "mxm": (300,),
    "ac": (6000,),
    "trfd": (28,),
    "pairwise": (600, 64),
    "mandelbrot": (500, 200),
    "conv2d": (500, 7),
    "nbody": (600, 10),
    "heat2d": (500, 40),
    "jacobi": (500, 40),
    "floyd_warshall": (250,),
}
#: The bars of a workload: contender, label, colour.
BARS = (
    ("python", "dlbc, one comment", "#4c78a8"),
    ("jit", "dlbc, with jit", "#e45756"),
    ("prange", "numba prange", "#a0a0a0"),
)
_ROUNDS = 3
_LEFT, _WIDTH, _RIGHT, _BAR, _GROUP, _TOP = 110, 520, 70, 9, 36, 44

_STYLE = """\
text { font: 12px system-ui, sans-serif; fill: #222 }
.small { font-size: 10px }
.grid { stroke: #ccc }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .grid { stroke: #444 } }"""


def speedups(record: dict[str, Any], contender: str) -> dict[str, float]:
    """How many times as fast as plain Python a contender is, by workload."""
    found = {}
    for name, workload in record["workloads"].items():
        seconds = {each: figures.get("median_s") for each, figures in workload["contenders"].items()}
        found[name] = seconds["plain"] / seconds[contender]
    return found


def caption(record: dict[str, Any]) -> str:
    """The record in a paragraph."""
    ranges = {each: _range(speedups(record, each).values()) for each, _, _ in BARS}
    exact = all(
        workload["contenders"][each]["off"] == 0
        for workload in record["workloads"].values()
        for each in ("plain", "python", "jit")
    )
    bits = "All results of `dlbc` have the bits of plain Python. " if exact else ""
    return (
        f"{len(record['workloads'])} loops, measured on {record['ranks']} processors ({record['machine']}, "
        f"CPython {record['python']}, {record['date']}): with the one comment they are {ranges['python']} "
        f"times as fast as plain Python, with `jit` {ranges['jit']} times; numba's `prange` on as many "
        f"threads is {ranges['prange']} times as fast. {bits}Transfers count, starting and compiling do not: "
        "[measured](docs/measured.md)."
    )


def _range(values: Any) -> str:
    low, high = min(values), max(values)
    return f"{_rounded(low)} to {_rounded(high)}"


def _rounded(value: float) -> str:
    """Two digits that count."""
    return f"{value:.1f}" if value < 10 else f"{float(f'{value:.1e}'):.0f}"


def picture(record: dict[str, Any]) -> str:
    """Bars on a logarithmic axis, as SVG, which follows the reader's choice of light or dark."""
    found = {each: speedups(record, each) for each, _, _ in BARS}
    names = list(record["workloads"])
    decades = math.ceil(math.log10(max(max(each.values()) for each in found.values())))
    bottom = _TOP + _GROUP * len(names)
    width, height = _LEFT + _WIDTH + _RIGHT, bottom + 24
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        "<title>Speed-up over plain Python, two processors</title>",
        f"<style>{_STYLE}</style>",
        *_legend(),
        *_axis(decades, bottom),
    ]
    for row, name in enumerate(names):
        top = _TOP + row * _GROUP
        lines.append(f'<text x="{_LEFT - 8}" y="{top + 19}" text-anchor="end">{name}</text>')
        for number, (each, _, colour) in enumerate(BARS):
            lines += _bar(found[each][name], decades, top + 2 + number * (_BAR + 1), colour)
    return "\n".join([*lines, "</svg>", ""])


def _legend() -> Iterator[str]:
    yield f'<text x="{_LEFT}" y="14">times as fast as plain Python, on two processors</text>'
    for number, (_, label, colour) in enumerate(BARS):
        left = _LEFT + number * 160
        yield f'<rect x="{left}" y="24" width="10" height="10" fill="{colour}"/>'
        yield f'<text x="{left + 15}" y="33">{label}</text>'


def _axis(decades: int, bottom: int) -> Iterator[str]:
    for power in range(decades + 1):
        x = _LEFT + _WIDTH * power / decades
        yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom}"/>'
        yield f'<text class="small" x="{x:.1f}" y="{bottom + 14}" text-anchor="middle">{10**power}</text>'


def _bar(value: float, decades: int, top: int, colour: str) -> Iterator[str]:
    length = max(0.0, _WIDTH * math.log10(value) / decades)
    yield f'<rect x="{_LEFT}" y="{top}" width="{length:.1f}" height="{_BAR}" fill="{colour}"/>'
    yield f'<text class="small" x="{_LEFT + length + 4:.1f}" y="{top + 8}">{_rounded(value)}</text>'


def main() -> None:
    """Measure what is named, and write record and picture."""
    from tests.bench.peers import agreed, machine, measured, today

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only", type=lambda text: [name for name in text.split(",") if name], default=list(SIZES)
    )
    options = parser.parse_args()
    ranks = 2
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:ranks])
    record: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    workloads = record.get("workloads", {})
    settings = SimpleNamespace(ranks=ranks, rounds=_ROUNDS, slow=10.0)
    for name in options.only:
        assert agreed(name), f"{name}: numba on one thread computes something else than plain Python"
        names = ("sequential", "plain", *(each for each, _, _ in BARS))
        workloads[name] = {"sizes": SIZES[name], "contenders": measured(name, SIZES[name], names, settings)}
        record |= {"date": today(), "machine": machine(), "python": sys.version.split()[0]}
        record |= {"ranks": ranks, "rounds": _ROUNDS}
        record["workloads"] = {each: workloads[each] for each in SIZES if each in workloads}
        RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        print(name, {each: round(speedups(record, each)[name], 2) for each, _, _ in BARS}, flush=True)
    PICTURE.write_text(picture(record), encoding="utf-8")


if __name__ == "__main__":
    main()
