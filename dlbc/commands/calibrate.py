"""`dlbc calibrate`: measure the network, or how fast each rank computes the loops of a program.

The network (Zaki, Li, Parthasarathy, section 1.5.1): the runtime measures it under the MPI launcher, shows it
and stores it; here the ranks are started, and `--plot` draws figure 1.6, the three patterns as measured and
as fitted.

The loops: relative speeds belong to a loop as much as to a processor (Clarke, Lastovetsky, Rychkov, section
1), so one run of the program itself is the trial, not a benchmark. The runtime writes its measurements to a
temporary file; from there they are printed, and added to the program's stored measurements.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from dlbrt.contract import ENVIRONMENT, LAST, TRIAL, OptionError
from dlbrt.observe.measurements import LoopMeasurements, default_path, read, update
from dlbrt.observe.networks import Calibration, from_json

from dlbc.commands import common
from dlbc.commands.kept_programs import WholeProgram
from dlbc.commands.launchers import HOSTFILE, default_ranks, hostfile_settings
from dlbc.commands.program import read_program
from dlbc.commands.run import CannotStartError, launch, launcher, run_program, shared_directory


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.usage = (
        "dlbc calibrate [-h] [-n P] [--hostfile FILE] [--plot FILE] [--force]\n"
        "       dlbc calibrate -n P [--hostfile FILE] [--stats FILE] [--load SPEC] [--speeds LIST] "
        "[--learned FILE] [--strict] FILE|-m MODULE [ARGS...]"
    )
    parser.description = (
        "Without a program: measure latency, bandwidth and patterns of communication among P ranks, print "
        "them on standard output, and store them for runs on the same hosts. With a program: run it once on "
        "P ranks, with iterations dealt in turn and without balancing, and measure the relative speeds of "
        "the ranks for each loop. They are printed on standard error, and stored for runs with "
        "`--weights last`; standard output is the program's own. Exit status: as that of `run`."
    )
    common.add_ranks(parser, required=False)
    parser.add_argument("--plot", metavar="FILE", help="draw there the network as measured and as fitted")
    parser.add_argument(
        "--force", action="store_true", help="store the network even if repeated measurements differ much"
    )
    common.add_stats(parser)
    common.add_hostfile(parser)
    common.add_emulation(parser)
    common.add_learned(parser)
    common.add_strict(parser)
    common.add_follow(parser)
    common.add_modules(parser)
    common.add_program(parser, required=False)


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    if problem := _misused(options):
        return common.print_error(problem)
    if options.file or options.module:
        return _program(options)
    try:
        return calibrate_network(options.ranks, options.plot, options.force, options.hostfile)
    except CannotMeasureError as error:
        return common.print_error(error)


def _misused(options: argparse.Namespace) -> str:
    """Which option does not fit what is to be measured; empty if all do."""
    if options.file or options.module:
        if options.plot is not None:
            return "expected --plot without a program: it draws the network, which needs none"
        if options.force:
            return "expected --force without a program: it is for the network"
        return "" if options.ranks else "expected -n P, the number of ranks that are to run the program"
    for name in ("stats", "load", "speeds", "learned", "strict"):
        if getattr(options, name):
            return f"expected FILE, the program that --{name} is for; without one the network is measured"
    return ""


def _program(options: argparse.Namespace) -> int:
    program, status = read_program(options)
    if program is None:
        return status
    try:
        ranks = options.ranks if program.parallel else 1
        settings = common.settings_of(options) | hostfile_settings(options.hostfile)
        return calibrate(program, ranks, settings, options.arguments, options.learned)
    except CannotStartError as error:
        return error.show(program.path)
    except OptionError as error:
        return common.print_error(error)


# The speeds of the ranks

#: A rank that has computed for less than this may have been slow or fast by chance.
_SURE_S = 0.1

#: Nothing moves during the trial, and all ranks get equally many and equally expensive iterations.
_TRIAL = {ENVIRONMENT["strategy"]: "none", ENVIRONMENT["weights"]: TRIAL}


def calibrate(
    program: WholeProgram,
    ranks: int,
    settings: Mapping[str, str | int],
    arguments: Sequence[str],
    learned: str | None,
) -> int:
    """Run the program and add its measurements to the file ``learned``, else to the one that its runs read.

    The environment may name that file too. Returns the program's exit status, or 2 if it is 0 and the
    measurements cannot be written. Raises, before the program runs, CannotStartError, and OptionError if the
    file was not written by dlb.
    """
    named = learned or os.environ.get(ENVIRONMENT["learned"], "").strip()
    kept = Path(named).absolute() if named else default_path(str(program.path), os.environ)
    read(kept)
    shared = shared_directory(program.path, settings)
    with tempfile.TemporaryDirectory(prefix=".dlbc-", dir=shared) as directory:
        trial = Path(directory) / "learned.json"
        trial_settings = {**settings, **_TRIAL, ENVIRONMENT["learned"]: str(trial)}
        status = run_program(program, ranks, trial_settings, arguments)
        entries = [entry for entry in reversed(read(trial).entries) if entry.speeds or entry.densities]
    print("\n".join(_table(entries, ranks)), file=sys.stderr, flush=True)
    entries = [entry for entry in entries if not entry.disturbed]
    if not entries:
        return status
    try:
        update(kept, entries)
    except OSError as error:
        reason = f"cannot be written: {error.strerror or error}; name another with --learned"
        common.print_error(f"{kept} {reason}")
        return status or 2
    command = f"dlbc run -n {ranks} --weights {LAST}{f' --learned {learned}' if learned else ''}"
    common.print_error(f"on these hosts, `{command}` deals iterations by them")
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
    if measurements.disturbed:
        return [*lines, f"    {measurements.disturbance}"]
    least_s = min(measurements.seconds, default=_SURE_S)
    if least_s < _SURE_S:
        short = f"a rank computed for {least_s:.2g} s in all, too short to be sure"
        lines.append(f"    {short}: expected {_SURE_S:g} s or more; calibrate with more work")
    return lines


# The figure of the network; matplotlib is an optional extra (``plot``), imported when something is drawn

#: A pattern's field, its name in the figure, and the marker of its samples.
_PATTERNS = (
    ("all_to_all", "all-to-all", "o"),
    ("all_to_one", "all-to-one", "s"),
    ("one_to_all", "one-to-all", "^"),
)

#: Points of a curve between consecutive numbers of ranks.
_SMOOTH = 8


def check_plot(path: str) -> str:
    """Why no figure can be written there, and what to try; empty if it can."""
    if find_spec("matplotlib") is None:
        return "--plot needs matplotlib, which is not installed: pip install 'dlbc[plot]'"
    from matplotlib.backend_bases import FigureCanvasBase

    known = sorted(FigureCanvasBase.get_supported_filetypes())
    place = Path(path)
    if place.suffix[1:].lower() not in known:
        return f"--plot: expected a file named as one of {', '.join(known)}, found {path!r}"
    directory = place.absolute().parent
    if place.is_dir() or not os.access(place if place.exists() else directory, os.W_OK):
        return f"--plot: {path} cannot be written: choose a file in an existing, writable directory"
    return ""


def draw(calibration: Calibration, path: str) -> None:
    """Write the figure; OSError if that fails."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(7, 5), layout="constrained")
    axes = figure.add_subplot()
    network, size = calibration.networks.whole, calibration.site.size
    ranks = [2 + step / _SMOOTH for step in range((size - 2) * _SMOOTH + 1)]
    for field, name, marker in _PATTERNS:
        pattern, samples = getattr(network, field), getattr(calibration.samples, field)
        fitted = [pattern.seconds(p) * 1e3 for p in ranks]
        [line] = axes.plot(ranks, fitted, label=f"{name}, fitted")
        measured = [seconds * 1e3 for _, seconds in samples]
        axes.plot(
            [p for p, _ in samples], measured, marker, color=line.get_color(), label=f"{name}, measured"
        )
    axes.set_xlabel("ranks")
    axes.set_ylabel("time [ms]")
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title(f"latency {network.latency_s * 1e6:.3g} us, bandwidth {network.bandwidth / 1e6:.4g} MB/s")
    axes.legend()
    figure.savefig(path, dpi=150)


# The network

#: `-P`: a file of the current directory must not replace a module of the same name.
_MODULE = ("-P", "-m", "dlbrt.mpi.measuring.calibration")


class CannotMeasureError(Exception):
    """The network cannot be measured or drawn; the message says why, and what to try."""


def calibrate_network(ranks: int | None, plot: str | None, force: bool = False, hostfile: str = "") -> int:
    """Measure among ``ranks`` ranks; by default those of the allocation, else one for each processor here.

    The exit status: 0, or that of the ranks. Raises CannotMeasureError, before the measurement if possible.
    """
    ranks = ranks or default_ranks()
    if ranks < 2:
        raise CannotMeasureError("one rank alone uses no network: expected -n P with 2 ranks or more")
    if plot is not None and (reason := check_plot(plot)):
        raise CannotMeasureError(reason)
    try:
        hosts = hostfile_settings(hostfile)
        start = launcher(ranks, hostfile=hosts.get(HOSTFILE, ""))
        shared = shared_directory(Path("network"), hosts)
        with tempfile.TemporaryDirectory(prefix=".dlbc-", dir=shared) as directory:
            result = Path(directory) / "network.json"
            words = [str(ranks), *([str(result)] if plot is not None else []), *(["--force"] * force)]
            status = launch(start, [*_MODULE, *words], hosts)
            if plot is not None and result.exists():
                draw(from_json(result.read_text(encoding="utf-8")), plot)
    except CannotStartError as error:
        hint = "install one with `pip install 'dlbc[mpich]'`"
        raise CannotMeasureError(f"{error.diagnostic.message}: {hint}") from error
    except OSError as error:
        raise CannotMeasureError(f"{error.filename or 'the network'}: {error.strerror or error}") from error
    return status
