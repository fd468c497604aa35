"""Random programs, sequentially and on ranks: the same output, to the byte.

    python -m tests.fuzz.differential --programs 5000 --seed 1 --strategies 4

Programs are those of `legal_programs`, some dozens in a file, since starting ranks costs more than a loop,
and those of `tests.mpi.random_routines`. A file runs on 2, 3 and 5 ranks under some strategies each and
random load. One that differs is shrunk, and kept among the programs of `tests/mpi/programs`, where it is a
test from then on.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.legal_programs import STRATEGIES, accepted, files
from tests.fuzz.shrink import shrink
from tests.mpi.random_routines import program
from tests.support.mpi import run_mpi, run_sequential, transform

__all__ = ["Run", "difference", "programs", "runs", "shrunk"]

RANKS = (2, 3, 5)
#: Of this many programs one is a random routine, some in a file; every eighth file of these is of compiled
#: ones. A routine takes three times as long as another program. A compiled one takes thirty times as long: it
#: runs dozens of loops, and each rank of each run reads what is compiled. Ten in a file share the start.
ROUTINES_ONE_IN = 8
ROUTINES_IN_A_FILE = 10
TIMEOUT_S = 600.0  # a machine that does other work besides can take minutes


@dataclass(frozen=True, slots=True)
class Run:
    """So many ranks, a strategy, the seed of a random load; ``plant`` changes what is generated."""

    ranks: int
    strategy: str
    load: int
    plant: Callable[[str], str] = str

    def __str__(self) -> str:
        return f"{self.ranks} ranks, {self.strategy}, load {self.load}"


def runs(number: int, strategies: int) -> list[Run]:
    """Each number of ranks with some strategies, others for each file."""
    draw = random.Random(number)
    chosen = ((ranks, each) for ranks in RANKS for each in draw.sample(STRATEGIES, strategies))
    return [Run(ranks, strategy, number) for ranks, strategy in chosen]


def programs(count: int, seed: int, size: int, directory: Path) -> Iterator[tuple[str, int]]:
    """Texts of files and how many programs each has; ``count`` are drawn, and some of them not accepted."""
    routines = count // ROUTINES_ONE_IN
    legal = list(accepted(count - routines, seed, directory))
    for first in range(0, len(legal), size):
        for text in files(legal[first : first + size], directory):
            yield text, text.count("\ndef p")
    number = 0
    while routines:
        some = min(ROUTINES_IN_A_FILE, routines)
        yield program(seed * 100_000 + number, some, compiled=number % 8 == 1), some
        number, routines = number + 1, routines - some


def difference(text: str, wanted: Sequence[Run], directory: Path) -> tuple[Run, str] | None:
    """The first run that differs, and how; ValueError if the program fails, is refused or has no loop."""
    path = directory / "several.py"
    path.write_text(text, encoding="utf-8")
    expected = run_sequential([sys.executable, str(path)], TIMEOUT_S)
    if expected.status:
        raise ValueError(expected.stderr)
    (directory / "several_dlb.py").unlink(missing_ok=True)  # that of a program without loops would stay
    try:
        generated = transform(path, directory)
    except AssertionError as error:
        raise ValueError(str(error)) from None
    before, planted = generated.read_text(encoding="utf-8"), directory / "several_on_ranks.py"
    if "# dlbc: loop " not in before:
        raise ValueError("no parallel loop")
    for run in wanted:
        planted.write_text(run.plant(before), encoding="utf-8")
        env = {"DLB_STRATEGY": run.strategy, "DLB_LOAD": f"random:max=3,duration=0.002,seed={run.load}"}
        try:
            done = run_mpi(run.ranks, [sys.executable, str(planted)], TIMEOUT_S, env)
        except AssertionError as error:  # it hangs, or leaves processes behind
            return run, str(error)
        if (done.stdout, done.status) != (expected.stdout, 0):
            what = _words(expected.stdout.decode(), done.stdout.decode(), done.status)
            return run, what + done.stderr[-600:]
    return None


def _words(expected: str, found: str, status: int) -> str:
    pairs = zip(expected.splitlines(), found.splitlines(), strict=False)
    first = next((f"expected {a[:200]}, found {b[:200]}" for a, b in pairs if a != b), "it ends early")
    return f"status {status}: {first}\n"


def shrunk(text: str, run: Run, directory: Path, seconds: float) -> str:
    """A small program that still differs in this run; the search ends after so long."""
    until = time.monotonic() + seconds

    def differs(candidate: str) -> bool:
        try:
            return difference(candidate, [run], directory) is not None
        except ValueError:
            return False

    return shrink(text, differs, lambda: time.monotonic() < until)


def keep(text: str, what: str, place: Path) -> None:
    """Write a program with a line on how it differed."""
    found = " ".join(what.split())[:100].replace('"', "'").replace("\\", "/")
    place.write_text(f"# Found by tests.fuzz.differential: {found}\n{text}", encoding="utf-8")


def main() -> None:
    """Generate, compare, shrink and keep what differs; exit status 1 if anything does."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--strategies", type=int, default=4, help="for each number of ranks (default: 4)")
    parser.add_argument("--size", type=int, default=80, help="programs in a file")
    parser.add_argument("--shrink", type=float, default=300, metavar="SECONDS", help="for each that differs")
    default = Path(__file__).resolve().parent.parent / "mpi" / "programs"
    parser.add_argument(
        "--keep", type=Path, default=default, metavar="DIR", help="default: tests/mpi/programs"
    )
    options = parser.parse_args()
    count, compared, found = 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        texts = programs(options.programs, options.seed, options.size, directory)
        for number, (text, inside) in enumerate(texts):
            wanted = runs(options.seed * 1000 + number, options.strategies)
            count, compared = count + inside, compared + len(wanted)
            if (differs := difference(text, wanted, directory)) is None:
                print(f"{count} programs, {compared} runs of files", flush=True)
                continue
            found += 1
            run, what = differs
            place = options.keep / f"differential_{options.seed}_{number}.py"
            keep(shrunk(text, run, directory, options.shrink), f"{run}, {what}", place)
            print(f"{place}: {run}: {what}", flush=True)
    print(f"{count} of {options.programs} programs accepted, {compared} runs of files, {found} files differ")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
