"""What staying on the ranks gains: samples with `iterate` over the same without, paired in one invocation.

    python tests/bench/routines.py                        # all of them on 1, 2 and 4 ranks
    python tests/bench/routines.py heat2d --ranks 2,3     # one of them

Each line gives the median ratio of the seconds that the sample's function takes, first distribution and
return included, with its spread over the rounds; then, with and without, seconds and bytes per pass. Bytes
are all that ranks send each other in the run, also by word of what to do. On 1 rank the ratio is to the
original program. `--json FILE` writes the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.measure import PROGRAMS, paired, seconds
from tests.support.mpi import run_mpi, transform

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
COUNTING = PROGRAMS / "counting"
ITERATE = "# dlb: iterate\n"

#: Put above a sample's functions, to time those that hold its routines.
TIMED = """

import sys
import time


def timed(function):
    def call(*arguments):
        begun = time.perf_counter()
        try:
            return function(*arguments)
        finally:
            print(f"seconds {time.perf_counter() - begun:.6f}", file=sys.stderr)

    return call

"""


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample with its arguments, the functions that are timed, and the passes they make."""

    name: str
    arguments: tuple[str, ...]
    functions: tuple[str, ...]
    passes: int


CASES = {
    "lu": Sample("lu", ("700", "CYCLIC"), ("factorize_scattered",), 699),
    "lu in blocks": Sample("lu", ("700", "BLOCK"), ("factorize_in_blocks",), 699),
    "jacobi": Sample("jacobi", ("1200", "1e-3"), ("jacobi",), 58),
    "heat2d": Sample("heat2d", ("600", "2000", "60"), ("diffuse",), 60),
    "life": Sample("life", ("600", "60"), ("live",), 60),
}


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one sample on so many ranks: ratios of the seconds, and what a pass takes with and without."""

    ratios: dict[str, float]
    seconds_with: float
    seconds_without: float
    bytes_with: float
    bytes_without: float


@dataclass(frozen=True, slots=True)
class Programs:
    """The sample with its functions timed, and what is generated for it with its routines and without."""

    source: Path
    iterating: Path
    scattering: Path


def programs(sample: Sample, out: Path) -> Programs:
    """Written and transformed in a directory."""
    text = (SAMPLES / f"{sample.name}.py").read_text(encoding="utf-8")
    place = text.index("\n\n\ndef ")
    text = text[:place] + TIMED + text[place:]
    for function in sample.functions:
        text = text.replace(f"\ndef {function}(", f"\n@timed\ndef {function}(")
    sources = []
    for name, content in (("iterating", text), ("scattering", text.replace(ITERATE, "\n"))):
        source = out / name / f"{sample.name}.py"
        source.parent.mkdir()
        source.write_text(content, encoding="utf-8")
        sources.append(source)
    return Programs(sources[0], *(transform(source, source.parent) for source in sources))


def bytes_sent(program: Path, sample: Sample, ranks: int) -> int:
    """What all ranks of a run send each other."""
    with tempfile.TemporaryDirectory() as counted:
        paths = os.pathsep.join(filter(None, (str(COUNTING), os.environ.get("PYTHONPATH"))))
        env = {"PYTHONPATH": paths, "COUNTED_BYTES": counted, "DLB_STRATEGY": "GDDLB"}
        done = run_mpi(ranks, [sys.executable, str(program), *sample.arguments], 300, env)
        assert done.status == 0, done.stderr
        return sum(int(file.read_text()) for file in Path(counted).iterdir())


def measured(sample: Sample, ranks: int, rounds: int, out: Path) -> Figures:
    """One line of figures, printed as well."""
    out.mkdir()
    found = programs(sample, out)
    env = {"DLB_STRATEGY": "GDDLB"}
    other, among = (found.source, 0) if ranks == 1 else (found.scattering, ranks)
    taken: tuple[list[float], list[float]] = ([], [])

    def timed(program: Path, ranks: int, times: list[float]) -> float:
        times.append(seconds(program, ranks, sample.arguments, env))
        return times[-1]

    ratios = paired(
        f"{out.name}",
        rounds,
        lambda: timed(found.iterating, ranks, taken[0]),
        lambda: timed(other, among, taken[1]),
    )
    per_pass = [statistics.median(times) / sample.passes for times in taken]
    sent = [bytes_sent(p, sample, ranks) / sample.passes for p in (found.iterating, found.scattering)]
    figures = Figures(ratios, *per_pass, *sent)
    print(
        f"    a pass: {1e3 * figures.seconds_with:.2f} ms and {figures.bytes_with:,.0f} bytes,"
        f" without {1e3 * figures.seconds_without:.2f} ms and {figures.bytes_without:,.0f} bytes",
        flush=True,
    )
    return figures


def main() -> None:
    """Measure the samples named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sample", nargs="*", default=list(CASES), help=f"of {', '.join(CASES)}")
    parser.add_argument(
        "--ranks", type=lambda text: [int(each) for each in text.split(",")], default=[1, 2, 4]
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    figures = {}
    with tempfile.TemporaryDirectory() as out:
        for name in options.sample:
            for ranks in options.ranks:
                what = f"{name}, {ranks} ranks"
                figures[what] = asdict(measured(CASES[name], ranks, options.rounds, Path(out, what)))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
