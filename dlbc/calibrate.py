"""Measure how fast each rank computes a program's loops: one run of it, dealt in turn, is the trial.

Relative speeds belong to a loop as much as to a processor (Clarke, Lastovetsky, Rychkov, section 1), so the
loops themselves are timed, and not a benchmark. The runtime writes what it measured to a file of the trial's
own; from there it is told, and added to what is known of the program.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from dlbrt.contract import ENVIRONMENT, LAST, TRIAL
from dlbrt.observe.learned import LoopMeasurements, default_path, read, update

from dlbc.run import run_program, shared_directory

__all__ = ["calibrate"]

#: A rank that has computed for less than this may have been slow or fast by chance.
_SURE_S = 0.1

#: Nothing moves during the trial, and every rank's iterations are as many and as dear as another's.
_TRIAL = {ENVIRONMENT["strategy"]: "none", ENVIRONMENT["weights"]: TRIAL}


def calibrate(
    source: Path,
    text: bytes,
    ranks: int,
    settings: Mapping[str, str | int],
    arguments: Sequence[str],
    learned: str | None = None,
) -> int:
    """Run the program and keep what is measured in ``learned``, or where the program's runs look for it.

    The environment may name the file as well. Returns the program's exit status, or 2 where it is 0 and what
    was measured cannot be written. Raises CannotStartError, and OptionError where the file is not ours:
    before the program runs.
    """
    named = learned or os.environ.get(ENVIRONMENT["learned"], "").strip()
    kept = Path(named).absolute() if named else default_path(str(source), os.environ)
    read(kept)
    with tempfile.TemporaryDirectory(prefix=".dlbc-", dir=shared_directory(source)) as directory:
        trial = Path(directory) / "learned.json"
        told = {**settings, **_TRIAL, ENVIRONMENT["learned"]: str(trial)}
        status = run_program(source, text, ranks, told, arguments)
        entries = [found for found in reversed(read(trial).entries) if found.speeds or found.densities]
    _say(_table(entries, ranks))
    if not entries:
        return status
    try:
        update(kept, entries)
    except OSError as error:
        _say([f"dlbc: {kept} cannot be written: {error.strerror or error}; name another with --learned"])
        return status or 2
    file = f" --learned {learned}" if learned else ""
    _say([f"dlbc: on these hosts, `dlbc run -n {ranks} --weights {LAST}{file}` deals iterations by them"])
    return status


def _table(entries: Iterable[LoopMeasurements], ranks: int) -> list[str]:
    lines = []
    for measurements in entries:
        lines += _speeds(measurements) if measurements.speeds else []
        for density in measurements.densities:
            what = f"times of {density.n} iterations by groups of {density.group}"
            lines.append(f"dlbc: {measurements.key.source}: {what}, {float(density.prefix[-1]):.3g} s in all")
    why = "no loop ran on all ranks" if ranks > 1 else "it ran on one rank, which has no relative speed"
    return lines or [f"dlbc: nothing was measured: {why}"]


def _speeds(measurements: LoopMeasurements) -> list[str]:
    lines = [f"dlbc: {measurements.key.source}: relative speeds, the slowest rank's being 1"]
    pairs = enumerate(zip(measurements.key.hosts, measurements.speeds, strict=True))
    lines += [f"    rank {rank} on {host}: {speed:.3g}" for rank, (host, speed) in pairs]
    least_s = min(measurements.seconds, default=_SURE_S)
    if least_s < _SURE_S:
        short = f"a rank computed for {least_s:.2g} s in all, too short to be sure"
        lines.append(f"    {short}: expected {_SURE_S:g} s or more; calibrate with more work")
    return lines


def _say(lines: Iterable[str]) -> None:
    """Standard output is the program's own."""
    for line in lines:
        print(line, file=sys.stderr, flush=True)
