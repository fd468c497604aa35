"""`dlbc run`: transform and run under mpiexec in one step."""

from __future__ import annotations

import argparse
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from dlbrt.contract import GROUP_FLAGS, GROUP_KINDS, nearest

from dlbc.commands.common import (
    add_emulation,
    add_learned,
    add_program,
    add_ranks,
    add_stats,
    add_strict,
    print_error,
    settings_of,
    show_diagnostics,
)
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.parse.read_clauses import AVAILABLE
from dlbc.parse.read_source import WHOLE_FILE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_ranks(parser)
    parser.add_argument(
        "--strategy", metavar="NAME", type=_strategy,
        help=f"for loops that do not name one: {', '.join(AVAILABLE)}",
    )  # fmt: skip
    parser.add_argument(
        "--group", metavar="SPEC", type=_group,
        help="groups of the local strategies: K | block | random | speed | near | masters | exchange | "
        "dynamic, or some of them with commas between",
    )  # fmt: skip
    parser.add_argument(
        "--adapt", action="store_const", const="1", help="under auto: choose again at later synchronizations"
    )
    add_stats(parser)
    parser.add_argument("--trace", metavar="FILE", help="write an event trace there, as JSON")
    # Not offered: this version has none, and says so where it is asked for.
    parser.add_argument("--progress", action="store_const", const="1", help=argparse.SUPPRESS)
    add_emulation(parser)
    parser.add_argument(
        "--weights", metavar="LIST",
        help="known relative speeds, for the initial partition; last: as the last run or calibrate measured",
    )  # fmt: skip
    add_learned(parser)
    parser.add_argument(
        "--model", metavar="FILE", help="use all that runs have taught from the start, and keep it there"
    )
    add_strict(parser)
    add_program(parser)


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    from dlbc.commands.common import transform_file

    source, result, status = transform_file(options)
    if result.text is None:
        return status
    ranks, settings = options.ranks if result.parallel else 1, settings_of(options)
    if not result.parallel and (problem := malformed(settings, options.ranks)):
        return print_error(problem)
    try:
        return run_program(Path(options.file), result.text, ranks, settings, options.arguments)
    except CannotStartError as error:
        return show_diagnostics(source, (error.diagnostic,))


def _strategy(text: str) -> str:
    if text not in AVAILABLE:
        known = ", ".join(AVAILABLE)
        raise argparse.ArgumentTypeError(f"expected one of {known}; found {text!r}{nearest(text, AVAILABLE)}")
    return text


def _group(text: str) -> str:
    """Words that the option knows; how they go together the runtime says, which knows the ranks."""
    for word in map(str.strip, text.split(",")):
        if word not in (*GROUP_KINDS, *GROUP_FLAGS) and not re.fullmatch("0*[1-9][0-9]*", word):
            known = ", ".join((*GROUP_KINDS, *GROUP_FLAGS))
            raise argparse.ArgumentTypeError(f"expected integers above 0 and {known}; found {word!r}")
    return text


# ------------------------------------------------------------------------------
# Run a generated program under the MPI launcher of this environment: a thin layer above the compiler.
#
# The program is written to a directory of its own and started through ``dlbrt.script``, so that it sees the
# original's ``sys.argv[0]``, ``__file__`` and the modules beside it.

#: How long the ranks may take to end by themselves after an interrupt.
_GRACE_S = 5.0
_INTERRUPTED = 130


class CannotStartError(Exception):
    """The program could not be started; ``diagnostic`` says why."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def run_program(
    source: Path, text: bytes, ranks: int, settings: Mapping[str, str | int], arguments: Sequence[str]
) -> int:
    """The program's own exit status, as `launch` gives it; raises CannotStartError."""
    start = launcher(ranks)
    try:
        with tempfile.TemporaryDirectory(prefix=".dlbc-", dir=shared_directory(source)) as directory:
            generated = Path(directory) / source.name
            generated.write_bytes(text)
            script = ["-m", "dlbrt.script", str(generated), str(source), *arguments]
            return launch(start, script, settings)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CannotStartError(report("DLB016", WHOLE_FILE, reason=reason)) from error


def malformed(settings: Mapping[str, str | int], ranks: int) -> str:
    """What is wrong with the options of a run, as generated programs say it; empty where nothing is.

    For programs that do not read them: those in which there is nothing to run in parallel.
    """
    from dlbrt.contract import OptionError
    from dlbrt.options import Options

    try:
        Options.read({name: str(value) for name, value in settings.items()}, ranks)
    except OptionError as error:
        return str(error)
    return ""


def launch(start: Sequence[str], words: Sequence[str], settings: Mapping[str, str | int]) -> int:
    """Run Python with these words on the ranks that the words ``start`` of the launcher make.

    Returns the exit status, 128 + N where signal N ended it. OSError where it cannot be started.
    """
    # Ranks have to agree on the order of sets; as in a sequential run, it is another one each time.
    seed = {"PYTHONHASHSEED": str(secrets.randbelow(2**32))}
    environment = seed | os.environ | {name: str(value) for name, value in settings.items()}
    return _wait(subprocess.Popen([*start, sys.executable, *words], env=environment))


def launcher(ranks: int) -> list[str]:
    """The words of the command line before the program's; none for one rank. Raises CannotStartError."""
    if ranks == 1:
        return []
    srun = shutil.which("srun")
    if "SLURM_JOB_ID" in os.environ and srun:
        return [srun, "-n", str(ranks)]
    mpiexec = _find_mpiexec()
    if mpiexec is None:
        raise CannotStartError(report("DLB015", WHOLE_FILE))
    return [mpiexec, *_vendor_options(mpiexec), "-n", str(ranks)]


def _find_mpiexec() -> str | None:
    """The launcher beside this Python, whose MPI is the one that mpi4py here loads; else on the path."""
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if os.access(beside, os.X_OK) else shutil.which("mpiexec")


def _vendor_options(mpiexec: str) -> list[str]:
    """Open MPI alone refuses more ranks than cores, and to run as root, unless told otherwise."""
    try:
        done = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    if "Open MPI" not in done.stdout + done.stderr and "OpenRTE" not in done.stdout + done.stderr:
        return []
    return ["--oversubscribe", *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]


def shared_directory(source: Path) -> str | None:
    """In a Slurm allocation the source's directory, which all nodes see; else the system's own."""
    directory = source.absolute().parent
    return str(directory) if "SLURM_JOB_ID" in os.environ and os.access(directory, os.W_OK) else None


def _wait(process: subprocess.Popen[bytes]) -> int:
    """Wait for the ranks; an interrupt or a termination of this command ends them too."""
    previous = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        status = process.wait()
    except KeyboardInterrupt:
        _end(process)
        return _INTERRUPTED
    finally:
        signal.signal(signal.SIGTERM, previous)
    return status if status >= 0 else 128 - status


def _end(process: subprocess.Popen[bytes]) -> None:
    """The terminal has interrupted the launcher as well; one that does not end is ended."""
    for stop in (process.terminate, process.kill):
        try:
            process.wait(_GRACE_S)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            stop()
        else:
            return
    process.wait()
