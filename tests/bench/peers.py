"""Ten workloads against others' tools, on the processors of one machine; no test.

    python tests/bench/peers.py                                  # all, on 2 ranks, threads or workers
    python tests/bench/peers.py --only mxm,ac --contenders jit,prange,prange_by_hand,mpi4py_by_hand
    python tests/bench/peers.py --ranks 16 --json figures.json --plot figures.svg
    python tests/bench/peers.py --read tests/bench/peers.json --pages     # the documents, from what is kept

Times are taken inside the programs, from arrays ready to results ready, transfers included; pools are started
and code is compiled in a first computation, reported apart. The repetitions of all contenders take turns.
Each line gives the median, the least and the most, and the ratio of the median to that of `prange` in numba's
default layer. Results are compared with those of the same text under numba on one thread: byte for byte, or
how far off the farthest element is, relative to the largest. That text is compared with plain Python once, at
a small size. Contenders that take more than `--slow` seconds have two repetitions. `plain`, the program by
itself, and `python`, this project without `jit`, run only where they are named (as tests/bench/speedup.py
does). `--sizes 500` is for a single workload, which goes by its sizes then.
`--add` adds to the record in `--json`.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.contenders import CONTENDERS, HERE, NoAnswerError, Running, missing
from tests.bench.peer_pages import KEPT, plot, show, write_pages

sys.path.insert(0, str(HERE))

from peer import SIZES

REFERENCE = "sequential"
_LIMIT_S = 300.0
#: Repetitions of those that are slow.
_FEW = 2


def agreed(name: str) -> bool:
    """Whether numba on one thread computes what plain Python does, at a small size."""
    words = [str(size) for size in SIZES[name][1]]
    programs = [[f"{name}.py"], ["threads.py", "sequential", name]]
    digests = set()
    for program in programs:
        done = subprocess.run(
            [sys.executable, *program, *words], cwd=HERE, input="once\n", capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        digests.add(json.loads(done.stdout)["digest"])
    return len(digests) == 1


def measured(name: str, sizes: Sequence[int], names: Sequence[str], options: Any) -> dict[str, Any]:
    """The figures of the contenders on one workload, by name."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        running: dict[str, Running] = {}
        try:
            for each in names:
                own = Path(place, each)
                own.mkdir()
                started = Running(CONTENDERS[each], name, sizes, options.ranks, own)
                running[each] = started
                found[each] = first(started)
                if found[each]["problem"]:
                    running.pop(each).end()
            for number in range(options.rounds):
                for each, contender in list(running.items()):
                    times = found[each]["times_s"]
                    if number < _FEW or max(times) < options.slow:
                        repeat(contender, found[each])
        finally:
            for contender in running.values():
                contender.end()
        for each in names:
            judge(found, each, Path(place))
    return found


def first(contender: Running) -> dict[str, Any]:
    """The figures of a contender after its first computation."""
    try:
        seconds, digest = contender.answer("first", _LIMIT_S)
    except NoAnswerError as problem:
        last = contender.said().strip().splitlines()[-1:]
        return {"problem": ": ".join([str(problem), *last]), "times_s": [], "digests": []}
    return {"problem": "", "first_s": seconds, "times_s": [], "digests": [digest]}


def repeat(contender: Running, figures: dict[str, Any]) -> None:
    """Another repetition."""
    if not figures["problem"]:
        try:
            seconds, digest = contender.answer("again", _LIMIT_S)
        except NoAnswerError as problem:
            figures["problem"] = str(problem)
        else:
            figures["times_s"].append(seconds)
            figures["digests"].append(digest)


def judge(found: dict[str, Any], each: str, place: Path) -> None:
    """Adds the median, and how far the results are from the reference."""
    figures = found[each]
    digests = set(figures.pop("digests"))
    if figures["times_s"]:
        figures["median_s"] = statistics.median(figures["times_s"])
        figures["off"] = 0.0 if digests == {found[REFERENCE].get("digest")} else off(place, each)
    if each == REFERENCE and len(digests) == 1:
        [figures["digest"]] = digests
        figures["off"] = 0.0


def off(place: Path, each: str) -> float:
    """How far the first result is from the reference's, relative to its largest element; never 0."""
    result, expected = (np.load(place / who / "result.npy") for who in (each, REFERENCE))
    if result.shape != expected.shape:
        return float("inf")
    return float(np.max(np.abs(result - expected)) / np.max(np.abs(expected))) or 5e-324


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    usual = [name for name in CONTENDERS if name not in ("plain", "python")]
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(SIZES))
    parser.add_argument("--contenders", type=lambda text: text.split(","), default=usual)
    parser.add_argument("--sizes", type=lambda text: tuple(map(int, text.split(","))))
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--slow", type=float, default=10.0)
    parser.add_argument("--read", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--add", action="store_true")
    parser.add_argument("--plot", type=Path)
    parser.add_argument("--pages", action="store_true", help=f"keep it in {KEPT}, write the documents")
    options = parser.parse_args()
    for given, known in ((options.only, SIZES), (options.contenders, CONTENDERS)):
        if unknown := set(given) - set(known):
            parser.error(f"expected some of {', '.join(known)}, found {', '.join(sorted(unknown))}")
    return options


def today() -> str:
    """The date of a record."""
    return datetime.date.today().isoformat()


def machine() -> str:
    """The processor in words, as far as the system tells."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor()


def compared(options: argparse.Namespace) -> dict[str, Any]:
    """Runs the workloads and contenders named; the record of it."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.ranks])
    names = [name for name in CONTENDERS if name == REFERENCE or name in options.contenders]
    for absent in [name for name in names if missing(CONTENDERS[name])]:
        print(f"{absent}: {CONTENDERS[absent].needs} is not installed")
        names.remove(absent)
    before = json.loads(options.json.read_text(encoding="utf-8")) if options.add else {}
    found: dict[str, Any] = before.get("workloads", {})
    record = {
        "date": today(),
        "machine": machine(),
        "python": platform.python_version(),
        "ranks": options.ranks,
        "rounds": options.rounds,
        "workloads": found,
    }
    for name in options.only:
        sizes = options.sizes or SIZES[name][0]
        assert agreed(name), f"{name}: numba on one thread computes something else than plain Python"
        taking_part = [each for each in names if name not in CONTENDERS[each].lacks]
        label = f"{name} {' '.join(map(str, sizes))}" if options.sizes else name
        found[label] = {"sizes": sizes, "contenders": measured(name, sizes, taking_part, options)}
        show(label, found[label])
        if options.json:
            options.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return record


def main() -> None:
    """Run what is named, or read it, and write it out."""
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # ends the contenders too
    record = json.loads(options.read.read_text(encoding="utf-8")) if options.read else compared(options)
    if options.pages:
        write_pages(record)
    if options.plot:
        plot(record["workloads"], options.plot)


if __name__ == "__main__":
    main()
