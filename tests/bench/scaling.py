"""The workloads of tests/bench/peers.py on more and more processors of one machine; no test.

    python -m tests.bench.scaling                        # 1, 2, 4 ... ranks, as far as the processors go
    python -m tests.bench.scaling --only mxm,mandelbrot --ranks 1,2,4
    python -m tests.bench.scaling --json figures.json    # and a record of it

All contenders of a workload, with each number of ranks, take turns in one invocation. First computations, in
which code is compiled, run all at once and are not counted. A run is given as many processors as it has
ranks or threads, those of different cores first. Results are compared byte for byte.

What the machine can give is measured first: as many copies of a program under numba on one thread as there
are processors, all at once, against one copy alone. Two processors of a core, and a clock that falls under
load, keep that below the number of processors.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.contenders import CONTENDERS, Running
from tests.bench.peers import SIZES, first, machine, repeat, today

#: What is compared, and the contenders that have one process and one thread whatever the number of ranks.
_USUAL, _ALONE = ("sequential", "jit", "prange", "mpi4py_by_hand"), ("sequential", "plain")


@dataclass(frozen=True, slots=True)
class Task:
    """A workload with its sizes, and who computes it."""

    workload: str
    sizes: tuple[int, ...]
    contenders: tuple[str, ...] = _USUAL


#: The usual sizes, and longer ones: of seconds on one rank with `jit`, and of about ten in plain Python.
TASKS = {
    **{name: Task(name, sizes) for name, (sizes, _) in SIZES.items()},
    "mxm-long": Task("mxm", (2400,), ("jit", "mpi4py_by_hand")),
    "mandelbrot-long": Task("mandelbrot", (1800, 4000), ("jit", "prange", "mpi4py_by_hand")),
    "mxm-python": Task("mxm", (320,), ("plain", "python")),
    "mandelbrot-python": Task("mandelbrot", (700, 1000), ("plain", "python")),
}
#: What is computed in copies: no memory to speak of.
COPIED = Task("mandelbrot", SIZES["mandelbrot"][0])


def processors() -> list[int]:
    """Those that this process may use: one of each core first."""
    found: dict[str, list[int]] = {}
    for number in sorted(os.sched_getaffinity(0)):
        place = Path(f"/sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list")
        found.setdefault(place.read_text() if place.exists() else str(number), []).append(number)
    ranked = [(order, number) for core in found.values() for order, number in enumerate(core)]
    return [number for _, number in sorted(ranked)]


def measured(task: Task, ranks: Sequence[int], rounds: int) -> dict[str, Any]:
    """Seconds of all contenders with each number of ranks: medians, least, most; whether all bits agree."""
    every = processors()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        running: dict[tuple[str, int], Running] = {}
        try:
            for each in task.contenders:
                for count in [1] if each in _ALONE else ranks:
                    own = Path(place, f"{each}-{count}")
                    own.mkdir()
                    os.sched_setaffinity(0, every[:count])
                    running[each, count] = Running(CONTENDERS[each], task.workload, task.sizes, count, own)
            os.sched_setaffinity(0, every)
            with ThreadPoolExecutor(len(running)) as pool:
                figures = dict(zip(running, pool.map(first, running.values()), strict=True))
            for _ in range(rounds):
                for key, contender in running.items():
                    repeat(contender, figures[key])
        finally:
            os.sched_setaffinity(0, every)
            for contender in running.values():
                contender.end()
    digests = {digest for each in figures.values() for digest in each["digests"]}
    for (each, count), said in figures.items():
        found.setdefault(each, {})[str(count)] = _summary(said)
    return {"sizes": task.sizes, "same_bits": len(digests) == 1, "contenders": found}


def _summary(figures: dict[str, Any]) -> dict[str, Any]:
    times = figures["times_s"]
    if not times:
        return {"problem": figures["problem"]}
    return {"median_s": statistics.median(times), "least_s": min(times), "most_s": max(times)}


def at_once(task: Task, count: int, rounds: int) -> float:
    """How many processors ``count`` of them are worth: copies at once against one alone."""
    every = processors()
    with tempfile.TemporaryDirectory() as place:
        running = []
        try:
            for number in range(count):
                own = Path(place, str(number))
                own.mkdir()
                os.sched_setaffinity(0, [every[number]])
                running.append(Running(CONTENDERS["sequential"], task.workload, task.sizes, 1, own))
            os.sched_setaffinity(0, every)
            with ThreadPoolExecutor(count) as pool:
                turn = lambda copies: max(  # noqa: E731
                    seconds for seconds, _ in pool.map(lambda one: one.answer("again", 300.0), copies)
                )
                turn(running)
                ratios = [count * turn(running[:1]) / turn(running) for _ in range(rounds)]
        finally:
            os.sched_setaffinity(0, every)
            for one in running:
                one.end()
    return statistics.median(ratios)


def speedups(workload: dict[str, Any], contender: str) -> dict[int, float]:
    """How many times as fast as on one rank; of `python` as plain Python."""
    figures = workload["contenders"].get(contender, {})
    base = workload["contenders"].get("plain", figures).get("1", {}).get("median_s")
    return {
        int(count): base / said["median_s"]
        for count, said in figures.items()
        if base is not None and "median_s" in said and (contender == "python" or count != "1")
    }


def over(workload: dict[str, Any], contender: str, base: str) -> dict[int, float]:
    """The median over that of another contender with as many ranks or threads."""
    ours, theirs = (workload["contenders"].get(each, {}) for each in (contender, base))
    return {
        int(count): said["median_s"] / theirs[count]["median_s"]
        for count, said in ours.items()
        if "median_s" in said and "median_s" in theirs.get(count, {})
    }


def tables(record: dict[str, Any]) -> str:
    """What was found, in Markdown."""
    tasks = record["tasks"]
    ours = [
        (name, each)
        for name, found in tasks.items()
        for each in ("jit", "python")
        if each in found["contenders"]
    ]
    alone = "jit: times as fast as on one rank; python: as plain Python"
    return "\n".join(
        [
            *_table(record, alone, ((f"{name}, {each}", speedups(tasks[name], each)) for name, each in ours)),
            *_table(
                record,
                "jit over prange",
                ((name, over(each, "jit", "prange")) for name, each in tasks.items()),
            ),
            *_table(
                record,
                "jit over mpi4py and numba by hand",
                ((name, over(each, "jit", "mpi4py_by_hand")) for name, each in tasks.items()),
            ),
        ]
    )


def _table(record: dict[str, Any], what: str, rows: Iterable[tuple[str, dict[int, float]]]) -> Iterator[str]:
    counts = [count for count in record["ranks"] if count > 1]
    yield f"\n| {what} | {' | '.join(map(str, counts))} |\n| --- |{' --- |' * len(counts)}"
    for name, values in rows:
        if values:
            cells = (f"{values[count]:.2f}" if count in values else "" for count in counts)
            yield f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    """Measure what is named."""
    available = len(os.sched_getaffinity(0))
    usual = [count for count in (1, 2, 4, 8, 16, 32, 64) if count <= available]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(TASKS))
    parser.add_argument("--ranks", type=lambda text: list(map(int, text.split(","))), default=usual)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    record: dict[str, Any] = {
        "date": today(),
        "machine": machine(),
        "processors": available,
        "cores": _cores(),
        "python": platform.python_version(),
        "ranks": options.ranks,
        "rounds": options.rounds,
        "copies": {count: at_once(COPIED, count, options.rounds) for count in options.ranks if count > 1},
        "tasks": {},
    }
    print("so many copies are worth so many processors:", json.dumps(record["copies"]), flush=True)
    for name in options.only:
        task = TASKS[name]
        record["tasks"][name] = measured(task, options.ranks, options.rounds)
        print(name, json.dumps(record["tasks"][name]), flush=True)
        if options.json:
            options.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(tables(record))


def _cores() -> int:
    places = Path("/sys/devices/system/cpu").glob("cpu[0-9]*/topology/thread_siblings_list")
    return len({place.read_text() for place in places})


if __name__ == "__main__":
    sys.exit(main())
