"""PolyBench's kernels under `jit` on one rank over the same kernels as written under numba; no test.

    python tests/bench/polybench.py                         # all thirty, MEDIUM
    python tests/bench/polybench.py --data LARGE --only gemm,trmm --rounds 5
    python tests/bench/polybench.py --as-written            # with `jit(as_written)`

Each round runs the generated program and then numba's, each in a process of its own on one core, where the
kernel is called once, uncounted, and then some times on values made anew. Seconds are those of the call
alone; the ratio is that of the medians over all rounds. What both print, a digest of the results, is
compared. Where a parallel loop took another order of the loops, numba runs them in the original's. The last
column is what the generated program says of its chunk functions. `--json FILE` writes the figures, `--page`
docs/polybench.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import sys
import tempfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.peers import machine
from tests.polybench.test_polybench import KERNELS, PARALLEL, written
from tests.support.mpi import Completed, run_mpi, run_sequential, starting, transform

BASELINE = Path(__file__).resolve().parent / "programs" / "polybench_numba.py"
#: Calls of a kernel in a process, besides the first.
CALLS = 5
_LIMIT_S = 1800
_ENV = {"DLB_BENCH": str(CALLS)}


def restructured(text: str) -> Iterator[str]:
    """What the chunk functions of a generated program say that was done to their loops."""
    inside = False
    for line in text.splitlines():
        if found := re.match(r"\s*def (\w+)", line):
            inside = found[1].startswith("_dlb_chunk_")
        if inside and (said := re.match(r"\s*# restructured: (.*)", line)):
            yield said[1]


def seconds(done: Completed) -> tuple[float, list[float]]:
    """Seconds of the first call and of the others."""
    assert done.status == 0, done.stderr
    [first] = re.findall(r"(?m)^first ([\d.]+)", done.stderr)
    return float(first), [float(each) for each in re.findall(r"(?m)^seconds ([\d.]+)", done.stderr)]


def measured(path: Path, words: list[str], clause: str, rounds: int, place: Path) -> dict[str, Any]:
    """Both contenders in turn."""
    generated = transform(written(path, clause, place), place)
    ours: list[float] = []
    numba: list[float] = []
    firsts: list[float] = []
    same, said = True, ""
    for _ in range(rounds):
        one = run_mpi(1, [sys.executable, str(generated), *words], _LIMIT_S, _ENV)
        other = run_sequential([sys.executable, str(BASELINE), path.stem, *words], _LIMIT_S, _ENV)
        same = same and one.stdout == other.stdout
        said = re.sub(r"(?m)^(first|seconds) .*\n", "", one.stderr).strip()
        firsts.append(seconds(one)[0])
        ours += seconds(one)[1]
        numba += seconds(other)[1]
    return {
        "jit_s": statistics.median(ours),
        "numba_s": statistics.median(numba),
        "ratio": statistics.median(ours) / statistics.median(numba),
        "first_s": statistics.median(firsts),
        "same": same,
        "restructured": list(restructured(generated.read_text(encoding="utf-8"))),
        "said": said,
    }


def show(name: str, figures: dict[str, Any]) -> None:
    """One row."""
    bits = "same bits" if figures["same"] else "OTHER BITS"
    done = "; ".join(figures["restructured"]) or "as written"
    print(
        f"{name:15s} {figures['jit_s']:10.5f} s {figures['numba_s']:10.5f} s {figures['ratio']:7.2f}  {bits}"
        f"  first {figures['first_s']:6.2f} s  {done}",
        flush=True,
    )
    for line in figures["said"].splitlines():
        print(f"{'':16s}{line}")


_PAGE_FILE = "docs/polybench.md"
_PAGE = """\
# PolyBench under `jit`

The kernels of PolyBench 4.2 that have a parallel loop, ported to Python (`tests/polybench`), by `python
tests/bench/polybench.py --page`: {date}, one core of a machine with {machine}, CPython {python}, {data},
medians of {rounds} rounds of {calls} calls. The ratio is the time of the generated program with `jit` on
one rank over that of the same kernel as written, compiled as a whole by numba. Only annotated loops are
compiled here: what stands between them runs as Python (durbin, ludcmp, trisolv), and each run of a loop
takes some 12 us (jacobi_1d has two loops of a microsecond in each pass). The last column says what was
done to the loops. All bits are those of plain Python.

| kernel | `jit`, s | numba, s | ratio | loops |
| --- | --- | --- | --- | --- |
"""


def page(found: dict[str, Any], **about: Any) -> str:
    """The document: how it was measured, and a row for each kernel."""
    rows = [
        f"| {name} | {each['jit_s']:.5f} | {each['numba_s']:.5f} | {each['ratio']:.2f} | "
        f"{'; '.join(dict.fromkeys(each['restructured'])) or 'as written'} |\n"
        for name, each in found.items()
    ]
    assert all(each["same"] for each in found.values()), "other bits"
    return _PAGE.format(calls=CALLS, **about) + "".join(rows)


def main() -> None:
    """Run the kernels named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", type=lambda text: text.split(","), default=[p.stem for p in PARALLEL])
    parser.add_argument("--data", nargs="+", default=["MEDIUM"], help="a data set, or sizes")
    parser.add_argument("--as-written", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    clause = ", jit(as_written)" if options.as_written else ", jit"
    found: dict[str, Any] = {}
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print(f"{'kernel':15s} {'jit, 1 rank':>12s} {'numba':>12s} {'ratio':>7s}")
    with starting(forks=False):
        for path in [path for path in KERNELS if path.stem in options.only]:
            with tempfile.TemporaryDirectory() as place:
                found[path.stem] = measured(path, options.data, clause, options.rounds, Path(place))
            show(path.stem, found[path.stem])
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    if options.page:
        about = {"date": f"{date.today()}", "machine": machine(), "python": platform.python_version()}
        text = page(found, data=" ".join(options.data), rounds=options.rounds, **about)
        Path(__file__).resolve().parents[2].joinpath("docs", "polybench.md").write_text(
            text, encoding="utf-8"
        )


if __name__ == "__main__":
    main()
