"""Measures of runtime and compiler, as ratios paired in one invocation; none is a test.

    python tests/bench/measure.py overhead    # GDDLB over none, without load, by grain and ranks
    python tests/bench/measure.py balance     # GDDLB over none, one rank of two four times slower
    python tests/bench/measure.py calls       # a call of a tiny loop, at 1 and 2 ranks
    python tests/bench/measure.py checks      # a loop with a call that is watched, over the same with --trust
    python tests/bench/measure.py sequential  # the generated program on one rank over the original
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


MEASURES = {
    "check": check,
    "overhead": overhead,
    "balance": balance,
    "calls": calls,
    "checks": checks,
    "sequential": sequential,
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
