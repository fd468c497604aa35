"""Every sample under every strategy, many ranks, many loads: the same bytes each time.

    python tests/bench/soak.py [--ranks 1,2,3,..16] [--seeds 20] [--strategies NAME ...] [--samples NAME ...]

Too long for every day. One start of mpiexec for a number of ranks: there rank 0 runs the generated samples
again and again, as the generated files they are, under each strategy and each seed of the discrete random
load, and compares standard output with that of the original. That each iteration was executed exactly once is
checked by the runtime in every run. Prints a line for each number of ranks; status 1 if anything differed,
failed or hung.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import runpy
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from dlbrt.balance.strategies import AUTO, names

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

#: Loads change several times in a run, and speeds differ.
LOAD = "random:max=5,duration=0.003"


def main() -> int:
    """Start mpiexec for each number of ranks."""
    from tests.samples.test_samples import NAMES

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", default="1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--strategies", nargs="+", default=(*names(), AUTO))
    parser.add_argument("--samples", nargs="+", default=NAMES)
    parser.add_argument("--timeout", type=float, default=3600.0, help="seconds for each number of ranks")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        plan = prepared(Path(directory), options)
        return max(soaked(ranks, plan, options.timeout) for ranks in map(int, options.ranks.split(",")))


def prepared(directory: Path, options: argparse.Namespace) -> Path:
    """Generated samples and what is expected of them, with the runs to be made, as a file."""
    from tests.samples.test_samples import ARGUMENTS, copy_of
    from tests.support.mpi import run_sequential, transform

    samples = {}
    for name in options.samples:
        source, arguments = copy_of(name, directory), ARGUMENTS.get(name, ())
        done = run_sequential([sys.executable, str(source), *arguments], cwd=directory)
        samples[str(transform(source, directory))] = [arguments, done.stdout.decode()]
    plan = directory / "plan.json"
    plan.write_text(
        json.dumps({"samples": samples, "strategies": options.strategies, "seeds": options.seeds})
    )
    return plan


def soaked(ranks: int, plan: Path, timeout: float) -> int:
    """All runs on that many ranks."""
    from tests.support.mpi import TimedOut, run_mpi

    begin = time.monotonic()
    command = [sys.executable, __file__, "--inside", str(plan)]
    try:
        done = run_mpi(ranks, command, timeout, {"DLB_LOAD": f"{LOAD},seed=1"}, plan.parent)
    except TimedOut as error:
        print(f"{ranks:3d} ranks: {error}", flush=True)
        return 1
    said = done.stdout.decode().strip() or f"status {done.status}\n{done.stderr}"
    print(f"{ranks:3d} ranks, {time.monotonic() - begin:5.0f} s: {said}", flush=True)
    return int(done.status != 0)


def inside(plan: Path) -> int:
    """On one rank: rank 0 makes the runs, the others serve its loops."""
    import dlbrt
    from dlbrt.emulation import Load, LoadSpec
    from mpi4py import MPI

    begin = Load.__init__
    loops = 0

    def seeded(self: Load, spec: LoadSpec, rank: int) -> None:
        """Each run of a loop has draws of its own."""
        nonlocal loops
        loops += 1
        random = replace(spec.random, seed=100 * loops) if spec.random else None
        begin(self, replace(spec, random=random), rank)

    Load.__init__ = seeded  # type: ignore[method-assign]
    root_runtime = dlbrt.start(MPI.COMM_WORLD)._root_runtime
    wanted = json.loads(plan.read_text())
    count, wrong = 0, []
    runs = product(wanted["strategies"], wanted["samples"].items(), range(wanted["seeds"]))
    for strategy, (program, (arguments, expected)), seed in runs:
        root_runtime.options = replace(root_runtime.options, strategy=strategy)
        # With nothing known of the loops `auto` shares them.
        root_runtime.program_history._loop_histories.clear()
        with running([program, *arguments]) as output:
            runpy.run_path(program, run_name="__main__")
        count += 1
        if output.getvalue() != expected:
            wrong.append(f"{Path(program).stem} {strategy} seed {seed}")
    print(f"{count} runs, {len(wrong)} differ {wrong[:20]}", flush=True)
    return int(bool(wrong))


@contextlib.contextmanager
def running(arguments: Sequence[str]) -> Iterator[io.StringIO]:
    """As if the program had been started so."""
    kept, sys.argv = sys.argv, list(arguments)
    try:
        with contextlib.redirect_stdout(io.StringIO()) as output:
            yield output
    finally:
        sys.argv = kept


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        sys.exit(inside(Path(sys.argv[2])))
    sys.exit(main())
