"""Whole programs on 2 ranks over plain Python: what the user of a short program waits for; no test.

    python tests/bench/whole.py                          # all ten, about 5 s each by themselves
    python tests/bench/whole.py --seconds 1 --only heat,words

The arguments are chosen such that each program takes so many seconds on this machine. Each round runs
`python prog.py`, `dlbc run -n 2 prog.py` and `mpiexec -n 2 python prog_dlb.py`, one after the other, from the
start of the process to its end. The last two are divided by the first of their round. A first round is not
counted: it compiles modules, compares output and files with those of the sequential program, and tells how
much of the time was spent in parallel loops, and what rank 0 ran alone. Processor time is that of all
processes of a run together: where others use the machine as well, it shows what is spent beside the work. The
aims, on a quiet machine: at 5 s at most 0.70 in eight of ten and none above 1.02; at 1 s none above 1.3.
`--json FILE` writes the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support.mpi import find_mpiexec, run_sequential, starting, transform

PROGRAMS = Path(__file__).resolve().parent / "programs" / "whole"

#: An argument with which a program takes some seconds, the power of it by which that grows, and what follows.
ARGUMENTS: dict[str, tuple[int, int, str]] = {
    "nbody": (1900, 2, ""),
    "options": (150000, 1, ""),
    "image": (780, 2, ""),
    "sweep": (3400, 1, ""),
    "heat": (700, 2, ""),
    "pairs": (16000, 2, ""),
    "spins": (1500, 1, ""),
    "orbits": (160, 1, ""),
    "words": (6700, 1, ""),
    "area": (3200, 1, "area.csv"),
}

_LIMIT_S = 300


class Spent(NamedTuple):
    """What a run took, and what it left: standard output, and files by name."""

    wall_s: float
    processor_s: float
    left: tuple[bytes, dict[str, bytes]]


def processor_s() -> float:
    """Processor time of all processes that this one has waited for, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def spent(command: Sequence[str], env: dict[str, str]) -> Spent:
    """Runs a program in a directory of its own."""
    with tempfile.TemporaryDirectory() as place:
        before = processor_s()
        done = run_sequential(command, _LIMIT_S, env, place)
        assert done.status == 0, done.stderr
        files = {path.name: path.read_bytes() for path in Path(place).iterdir()}
        return Spent(done.elapsed, processor_s() - before, (done.stdout, files))


def sized(name: str, seconds: float) -> list[str]:
    """The arguments with which a program takes about so many seconds on this machine."""
    size, power, rest = ARGUMENTS[name]
    for _ in range(2):
        arguments = [str(size), *rest.split()]
        took = spent([sys.executable, str(PROGRAMS / f"{name}.py"), *arguments], {}).wall_s
        size = max(1, round(size * (seconds / took) ** (1 / power)))
    return [str(size), *rest.split()]


def ways(name: str, arguments: Sequence[str], out: Path) -> dict[str, Callable[[], Spent]]:
    """The ways of running a program, by name."""
    source = PROGRAMS / f"{name}.py"
    written, python = str(transform(source, out)), sys.executable
    env = {
        "DLB_LEARNED": str(out / "learned.json"),
        "XDG_CACHE_HOME": str(out),
        "DLB_STATS": str(out / "stats.json"),
    }
    run = [python, "-m", "dlbc", "run", "-n", "2", str(source), *arguments]
    mpi = [*find_mpiexec(), "-n", "2", python, written, *arguments]
    return {
        "python": lambda: spent([python, str(source), *arguments], {}),
        "dlbc run": lambda: spent(run, env),
        "mpiexec": lambda: spent(mpi, env),
    }


def measured(name: str, seconds: float, rounds: int, out: Path) -> dict[str, Any]:
    """Medians and spread of one program."""
    arguments = sized(name, seconds)
    runs = ways(name, arguments, out)
    first = {way: run() for way, run in runs.items()}
    for way, run in first.items():
        assert run.left == first["python"].left, f"{name}: {way} leaves other output than python"
    found = [{way: run() for way, run in runs.items()} for _ in range(rounds)]
    figures: dict[str, Any] = {
        way: {
            "wall_s": statistics.median(each[way].wall_s for each in found),
            "processor_s": statistics.median(each[way].processor_s for each in found),
            "ratios": sorted(each[way].wall_s / each["python"].wall_s for each in found),
        }
        for way in runs
    }
    figures["arguments"] = arguments
    return figures | loops(json.loads((out / "stats.json").read_text(encoding="utf-8")))


def loops(statistics_of_run: dict[str, Any]) -> dict[str, Any]:
    """How much of a run was spent in parallel loops, and which of them rank 0 ran alone."""
    found = statistics_of_run["loops"]
    alone = [f"{loop['source']} {loop.get('reason', '')}" for loop in found if loop["strategy"] == "local"]
    shared_s = sum(loop["elapsed_s"] for loop in found if loop["strategy"] != "local")
    return {"shared": shared_s / statistics_of_run["elapsed_s"], "alone": alone}


def show(name: str, figures: dict[str, Any]) -> None:
    """One line."""
    python = figures["python"]
    called = " ".join([name, *figures["arguments"][:1]])
    parts = [f"{called:15s} {python['wall_s']:6.2f} s ({python['processor_s']:5.2f})"]
    for way in ("dlbc run", "mpiexec"):
        found = figures[way]
        ratios = found["ratios"]
        parts.append(
            f"{way} {found['wall_s']:6.2f} s ({found['processor_s']:5.2f}): "
            f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        )
    parts.append(f"shared {figures['shared']:.0%}")
    print("  ".join([*parts, *(f"alone: {each}" for each in figures["alone"])]), flush=True)


def main() -> None:
    """Run the programs named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(ARGUMENTS))
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found: dict[str, Any] = {}
    print(f"load of the machine: {os.getloadavg()[0]:.1f}; in brackets: seconds of processor time")
    with starting(forks=False):
        for name in options.only:
            with tempfile.TemporaryDirectory() as out:
                found[name] = measured(name, options.seconds, options.rounds, Path(out))
            show(name, found[name])
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
