"""Measures of runtime and compiler, as ratios paired in one invocation; none is a test.

    python tests/bench/measure.py overhead    # GDDLB over none, without load, by grain and ranks
    python tests/bench/measure.py balance     # GDDLB over none, one rank of two four times slower
    python tests/bench/measure.py calls       # a call of a tiny loop, at 1 and 2 ranks
    python tests/bench/measure.py checks      # a loop with a call that is watched, over the same with --trust
    python tests/bench/measure.py sequential  # the generated program on one rank over the original
    python tests/bench/measure.py transfers   # scatter and gather of 1 GiB, over one copy of it
    python tests/bench/measure.py memory      # what workers hold of an array of 512 MiB, over their share
    python tests/bench/measure.py check       # check of 50 loops over libcst's parse and code generation

Each line gives the median ratio and its spread over the rounds; `--json FILE` writes the figures.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support.mpi import run_mpi, run_sequential, transform

PROGRAMS = Path(__file__).resolve().parent / "programs"

#: Iterations and inner steps for about 1 us, 100 us and 10 ms an iteration.
GRAINS = {"10^6 x 1 us": (1_000_000, 16), "10^4 x 100 us": (10_000, 1_700), "100 x 10 ms": (100, 170_000)}

Figures = dict[str, dict[str, float]]


def seconds(
    program: Path, ranks: int, arguments: tuple[str, ...] = (), env: Mapping[str, str] | None = None
) -> float:
    """The last loop time that a program prints; 0 ranks: as it is, without mpiexec."""
    command = [sys.executable, str(program), *arguments]
    done = run_mpi(ranks, command, 300, env) if ranks else run_sequential(command, 300, env)
    found = re.findall(r"seconds ([\d.]+)", done.stderr)
    assert done.status == 0, done.stderr
    assert found, done.stderr
    return float(found[-1])


def paired(what: str, rounds: int, one: Callable[[], float], other: Callable[[], float]) -> dict[str, float]:
    """Ratios one/other of runs in turn."""
    one(), other()
    pairs = [(one(), other()) for _ in range(rounds)]
    ratios = sorted(a / b for a, b in pairs)
    figures = {
        "median": statistics.median(ratios),
        "least": ratios[0],
        "most": ratios[-1],
        "of_medians": statistics.median(a for a, _ in pairs) / statistics.median(b for _, b in pairs),
        "seconds": statistics.median(a for a, _ in pairs),
    }
    print(
        f"{what:34s} median {figures['median']:.3f}  least {ratios[0]:.3f}  most {ratios[-1]:.3f}  "
        f"of medians {figures['of_medians']:.3f}  ({figures['seconds']:.3f} s)",
        flush=True,
    )
    return figures


def overhead(out: Path, rounds: int) -> Figures:
    """GDDLB over none without load."""
    program, figures = transform(PROGRAMS / "grain.py", out), {}
    for name, sizes in GRAINS.items():
        arguments = tuple(map(str, sizes))
        for ranks in (1, 2, 4):
            what = f"{name}, {ranks} ranks"
            figures[what] = paired(
                what,
                rounds,
                lambda: seconds(program, ranks, arguments, {"DLB_STRATEGY": "GDDLB"}),  # noqa: B023
                lambda: seconds(program, ranks, arguments, {"DLB_STRATEGY": "none"}),  # noqa: B023
            )
    return figures


def balance(out: Path, rounds: int) -> Figures:
    """GDDLB over none on two ranks, one of them with load 3; the ideal is 0.40."""
    program, figures = transform(PROGRAMS / "grain.py", out), {}
    for name, sizes in GRAINS.items():
        arguments = tuple(map(str, sizes))
        load = {"DLB_LOAD": "fixed:0,3"}
        figures[name] = paired(
            name,
            rounds,
            lambda: seconds(program, 2, arguments, load | {"DLB_STRATEGY": "GDDLB"}),  # noqa: B023
            lambda: seconds(program, 2, arguments, load | {"DLB_STRATEGY": "none"}),  # noqa: B023
        )
    return figures


def calls(out: Path, rounds: int) -> Figures:
    """Microseconds of a call, by ranks and strategy."""
    program, figures = transform(PROGRAMS / "calls.py", out), {}
    for ranks in (1, 2):
        for strategy in ("auto", "GDDLB"):
            times = sorted(
                seconds(program, ranks, (), {"DLB_STRATEGY": strategy}) * 1e6 for _ in range(rounds)
            )
            what = f"{ranks} ranks, {strategy}"
            median, least, most = statistics.median(times), times[0], times[-1]
            figures[what] = {"median": median, "least": least, "most": most}
            print(f"{what:34s} median {median:.0f} us  least {least:.0f}  most {most:.0f}", flush=True)
    return figures


def checks(out: Path, rounds: int) -> Figures:
    """A loop with a call that the compiler has not seen: watched, over the same on trust."""
    program, figures = transform(PROGRAMS / "watched.py", out), {}
    for name, sizes in GRAINS.items():
        arguments = tuple(map(str, sizes))
        for ranks in (1, 2):
            env = {"DLB_STRATEGY": "GDDLB"}
            figures[f"{name}, {ranks} ranks"] = paired(
                f"{name}, {ranks} ranks",
                rounds,
                lambda: seconds(program, ranks, arguments, env),  # noqa: B023
                lambda: seconds(program, ranks, arguments, env | {"DLB_TRUST": "1"}),  # noqa: B023
            )
    return figures


def sequential(out: Path, rounds: int) -> Figures:
    """The generated program on one rank over the original."""
    source, figures = PROGRAMS / "grain.py", {}
    program = transform(source, out)
    for name, sizes in GRAINS.items():
        arguments = tuple(map(str, sizes))
        figures[name] = paired(
            name,
            rounds,
            lambda: seconds(program, 0, arguments),  # noqa: B023
            lambda: seconds(source, 0, arguments),  # noqa: B023
        )
    return figures


def timed(work: Callable[[], object]) -> float:
    """Seconds that ``work`` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def check(out: Path, rounds: int) -> Figures:
    """`dlbc check` of a file of 1 000 lines with 50 loops, beyond start-up; the aim is at most 4."""
    import libcst

    from dlbc.pipeline import check as check_source
    from dlbc.source import Source
    from tests.bench.annotated import annotated_program

    text = annotated_program(loops=50, lines=1000)
    source = Source("annotated.py", text.encode(), text)
    what = f"{len(text.splitlines())} lines, 50 loops"
    once = timed(lambda: check_source(source))
    print(f"{what:34s} the first time {once:.3f} s")
    return {
        what: paired(
            what,
            rounds,
            lambda: timed(lambda: check_source(source)),
            lambda: timed(lambda: libcst.parse_module(text).code),
        )
    }


def lines_of(program: Path, ranks: int, arguments: tuple[str, ...], word: str) -> list[list[str]]:
    """The lines on standard error that begin with ``word``, without it, under static shares."""
    done = run_mpi(ranks, [sys.executable, str(program), *arguments], 300, {"DLB_STRATEGY": "none"})
    assert done.status == 0, done.stderr
    return [line.split()[1:] for line in done.stderr.splitlines() if line.startswith(f"{word} ")]


#: Arrays of 1 GiB: long rows; columns in blocks of 8 KiB and of 1 KiB for each of two ranks.
SHAPES = {
    "rows": ("rows", "1024", "131072"),
    "columns, 65536 x 2048": ("columns", "65536", "2048"),
    "columns, 524288 x 256": ("columns", "524288", "256"),
}


def transfers(out: Path, rounds: int) -> Figures:
    """A loop that computes next to nothing, over one copy of its array; the aim is at most 2 for rows."""
    program, figures = transform(PROGRAMS / "scatter_gather.py", out), {}
    for name, shape in SHAPES.items():
        for ranks in (2, 3):
            times = lines_of(program, ranks, (*shape, str(rounds + 1)), "loop")
            first, *ratios = (float(loop) / float(copy) for loop, _, copy in times)
            what, median = f"{name}, {ranks} ranks", statistics.median(ratios)
            figures[what] = {"first": first, "median": median, "least": min(ratios), "most": max(ratios)}
            shown = f"median {median:.2f}  least {min(ratios):.2f}  most {max(ratios):.2f}"
            print(f"{what:34s} {shown}  the first, into fresh memory, {first:.2f}", flush=True)
    return figures


def memory(out: Path, rounds: int) -> Figures:
    """What workers hold beyond what they held before, over their share; or over one copy, by their parts."""
    program, figures, size = transform(PROGRAMS / "memory.py", out), {}, 512
    for kind, ranks in (("rows", 2), ("rows", 4), ("whole", 2), ("whole", 3), ("whole", 5)):
        workers = [list(map(float, words)) for words in lines_of(program, ranks, (kind, str(size)), "worker")]
        what = f"{kind}, {ranks} ranks"
        if kind == "rows":
            ratio = max((peak - idle) / (part * size) for part, idle, peak, _, _ in workers)
        else:
            ratio = sum(now - idle for _, _, _, idle, now in workers) / size
        figures[what] = {"ratio": ratio, "peak_mb": max(worker[2] for worker in workers)}
        print(f"{what:34s} ratio {ratio:.3f}  the most {figures[what]['peak_mb']:.0f} MiB", flush=True)
    return figures


MEASURES = {
    "check": check,
    "overhead": overhead,
    "balance": balance,
    "calls": calls,
    "checks": checks,
    "memory": memory,
    "sequential": sequential,
    "transfers": transfers,
}


def main() -> None:
    """Run the measures named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("measure", nargs="+", choices=MEASURES)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as out:
        figures = {name: MEASURES[name](Path(out), options.rounds) for name in options.measure}
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
