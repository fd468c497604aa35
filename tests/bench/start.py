"""What it costs to start: processor time of each rank up to its first iteration, and of commands; no test.

    python tests/bench/start.py ranks       # under none and auto, beyond numpy, cloudpickle and mpi4py
    python tests/bench/start.py commands    # dlbc --help, --version and check, beside the bare interpreter

Each line gives medians over the rounds, in milliseconds of processor time (user and system). What is compared
runs in turn, one after the other in each round, since machines are shared. Programs are compiled once, before
the first round, as an installation compiles them. The aims are 60 ms a rank beyond the baseline, 120 ms for
--help and --version, 250 ms for check. `--json FILE` writes the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.support.mpi import run_mpi, transform

PROGRAM = Path(__file__).resolve().parent / "programs" / "start.py"

#: What any program that runs on ranks imports; MPI is initialized with the import.
BASELINE = """\
import time
import numpy, cloudpickle
from mpi4py import MPI
spent = MPI.COMM_WORLD.gather(time.process_time())
for each in spent or ():
    print(f"{1000 * each:.1f}")
"""

#: A small file for the command check.
SMALL = """\
import numpy as np

n = 100
A = np.zeros(n)
B = np.arange(n)
# dlb: parallel, BLOCK
for i in range(n):
    A[i] = 2.0 * B[i]
print(A.sum())
"""

Figures = dict[str, dict[str, float]]


def environment(cache: Path) -> dict[str, str]:
    """Where compiled modules are kept: there, whatever is set elsewhere."""
    return {"PYTHONPYCACHEPREFIX": str(cache), "PYTHONDONTWRITEBYTECODE": ""}


def of_ranks(command: Sequence[str], ranks: int, env: dict[str, str]) -> tuple[float, int]:
    """Mean milliseconds of a rank, and the modules of dlbrt that rank 0 has."""
    done = run_mpi(ranks, command, 120, env)
    assert done.status == 0, done.stderr
    lines = [line.split() for line in done.stdout.decode().splitlines()]
    assert len(lines) == ranks
    modules = sum(name.split(".")[0] == "dlbrt" for name in lines[0])
    return statistics.fmean(float(line[0]) for line in lines), modules


def ranks(out: Path, rounds: int) -> Figures:
    """Of each strategy, beyond the baseline of the same round."""
    env = environment(out)
    baseline, program = out / "baseline.py", transform(PROGRAM, out)
    baseline.write_text(BASELINE)
    figures: Figures = {}
    for count in (2, 4):
        found: dict[str, list[tuple[float, int]]] = {}
        for _ in range(rounds + 1):  # the first compiles
            command = [sys.executable, str(baseline)]
            found.setdefault("baseline", []).append(of_ranks(command, count, env))
            for strategy in ("none", "auto"):
                command = [sys.executable, str(program), str(count)]
                taken = of_ranks(command, count, env | {"DLB_STRATEGY": strategy})
                found.setdefault(strategy, []).append(taken)
        base = [ms for ms, _ in found.pop("baseline")[1:]]
        show(figures, f"{count} ranks, numpy, cloudpickle, mpi4py", base)
        for strategy, taken_each in found.items():
            beyond = [ms - there for (ms, _), there in zip(taken_each[1:], base, strict=True)]
            show(figures, f"{count} ranks, {strategy}, beyond that", beyond, modules=taken_each[-1][1])
    return figures


def spent_ms(command: Sequence[str], env: dict[str, str]) -> float:
    """The processor time of a process, from its start to its end."""
    process = subprocess.Popen(
        list(command), env=os.environ | env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return 1000 * (used.ru_utime + used.ru_stime)


def commands(out: Path, rounds: int) -> Figures:
    """Whole processes: the interpreter alone, what the compiler's libraries take, and our commands."""
    env, small = environment(out), out / "small.py"
    small.write_text(SMALL)
    python, dlbc = [sys.executable], [sys.executable, "-m", "dlbc"]
    found: dict[str, list[float]] = {}
    wanted = {
        "python -c pass": [*python, "-c", "pass"],
        "python -c 'import libcst'": [*python, "-c", "import libcst"],
        "python -c 'import islpy'": [*python, "-c", "import islpy"],
        "python -c 'import jinja2'": [*python, "-c", "import jinja2"],
        "python -c 'import numpy'": [*python, "-c", "import numpy"],
        "dlbc --help": [*dlbc, "--help"],
        "dlbc --version": [*dlbc, "--version"],
        "dlbc check small.py": [*dlbc, "check", str(small)],
    }
    for _ in range(rounds + 1):
        for name, command in wanted.items():
            found.setdefault(name, []).append(spent_ms(command, env))
    figures: Figures = {}
    for name, taken in found.items():
        show(figures, name, taken[1:])
    return figures


def show(figures: Figures, what: str, taken: Sequence[float], **more: float) -> None:
    """Print and keep the figures of one thing."""
    ordered = sorted(taken)
    found = {"median_ms": statistics.median(ordered), "least_ms": ordered[0], "most_ms": ordered[-1]} | more
    figures[what] = found
    modules = f"  {more['modules']} modules of dlbrt" if more else ""
    print(
        f"{what:44s} median {found['median_ms']:6.1f} ms  least {ordered[0]:6.1f}  most {ordered[-1]:6.1f}"
        f"{modules}",
        flush=True,
    )


MEASURES: dict[str, Callable[[Path, int], Figures]] = {"ranks": ranks, "commands": commands}


def main() -> None:
    """Run the measures named, both if none is."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("measure", nargs="*", help="ranks, commands")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as out:
        figures = {name: MEASURES[name](Path(out), options.rounds) for name in options.measure or MEASURES}
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
