"""`dlbc run`: transform and run under mpiexec in one step.

The generated files are written to a temporary directory, and the program is started through `dlbrt.script`,
which puts them in the place of their sources. `calibrate` starts its ranks with `launch`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dlbrt.contract import (
    AVAILABLE,
    BEGAN,
    ENVIRONMENT,
    GROUP_FLAGS,
    GROUP_KINDS,
    HISTORIES,
    WATCHERS,
    nearest,
)

from dlbc.commands import common
from dlbc.commands.launchers import (
    HOSTFILE,
    MpiFamily,
    family_of,
    find_mpiexec,
    find_srun,
    hostfile_options,
    hostfile_settings,
    on_other_hosts,
    vendor_options,
    version_text,
)
from dlbc.commands.program import read_program
from dlbc.commands.supervise import Beginning, run_command

if TYPE_CHECKING:
    from dlbrt.script import RunPlan

    from dlbc.commands.kept_programs import WholeProgram


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_settings(parser)
    common.add_hostfile(parser)
    common.add_modules(parser)
    common.add_program(parser)


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Its options but for those that say what is run."""
    common.add_ranks(parser)
    parser.add_argument(
        "--strategy", metavar="NAME", type=_strategy,
        help=f"for loops that do not name one: {', '.join(AVAILABLE)}",
    )  # fmt: skip
    parser.add_argument(
        "--group", metavar="SPEC", type=_group,
        help="groups of the local strategies: K | block | random | speed | near | masters | exchange | "
        "dynamic, or several of these, separated by commas",
    )  # fmt: skip
    parser.add_argument(
        "--adapt", action="store_const", const="1", help="under auto: choose again at later synchronizations"
    )
    parser.add_argument(
        "--history", choices=HISTORIES,
        help="by which windows a synchronization measures speeds: the last one (default), or all",
    )  # fmt: skip
    parser.add_argument(
        "--trust", action="store_const", const="1", help="no checks of what unseen calls change"
    )
    parser.add_argument(
        "--threads", metavar="N", type=common.positive,
        help="threads of each rank: in compiled loops (default: 1), and in numerical libraries",
    )  # fmt: skip
    common.add_stats(parser)
    parser.add_argument(
        "--timeout", metavar="SECONDS",
        help="end the job if a rank has not answered for so long within a loop (default: never)",
    )  # fmt: skip
    parser.add_argument(
        "--fault-tolerant", action="store_const", const="1",
        help="go on with the other ranks when ranks above 0 die (Open MPI alone)",
    )  # fmt: skip
    parser.add_argument(
        "--trace", metavar="FILE", type=common.record_file, help="write an event trace there, as JSON"
    )
    parser.add_argument(
        "--summary", action=argparse.BooleanOptionalAction,
        help="at the end, say on standard error where the time went (default: on a terminal)",
    )  # fmt: skip
    parser.add_argument(
        "--progress", action="store_const", const="1",
        help="show a progress bar for each loop, if standard error is a terminal (extra `progress`)",
    )  # fmt: skip
    common.add_emulation(parser)
    parser.add_argument(
        "--weights", metavar="LIST",
        help="known relative speeds, for the initial partition; last: as last measured by run or calibrate",
    )  # fmt: skip
    common.add_learned(parser)
    parser.add_argument(
        "--model", metavar="FILE", help="start from all measurements of earlier runs, and keep them there"
    )
    common.add_strict(parser)
    common.add_follow(parser)


def run(options: argparse.Namespace) -> int:
    """The exit status."""

    program, status = read_program(options)
    if program is None:
        return status
    options.summary = _summary(options.summary)
    ranks, settings = options.ranks if program.parallel else 1, common.settings_of(options)
    settings |= hostfile_settings(options.hostfile)
    if not program.parallel and (problem := malformed(settings, options.ranks)):
        return common.print_error(problem)
    if options.summary == "1" and (remark := crowding(ranks, _with(settings), _cores())):
        print(f"dlbc: {remark}", file=sys.stderr, flush=True)
    try:
        return run_program(program, options.ranks, settings, options.arguments)
    except CannotStartError as error:
        return error.show(program.path)


def _summary(wanted: bool | None) -> str | None:
    """The setting: as the user wants it; else as the environment has it, or on a terminal."""
    if wanted is None:
        on_terminal = sys.stderr is not None and sys.stderr.isatty()
        return os.environ.get(ENVIRONMENT["summary"]) or ("1" if on_terminal else None)
    return "1" if wanted else "0"


#: How many threads a rank starts: in compiled loops, and in the libraries below numpy, for those who set it.
_LIBRARIES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_THREADS = (ENVIRONMENT["threads"], *_LIBRARIES)
#: Idle threads of libraries sleep at once, since another rank may need their core. The number of these
#: threads is the user's to set: sums of BLAS depend on it, and are to be those of the sequential program.
_IDLE = {"OMP_WAIT_POLICY": "PASSIVE", "KMP_BLOCKTIME": "0", "OPENBLAS_THREAD_TIMEOUT": "4"}
#: Names of variables that Open MPI passes on to other hosts, separated by semicolons.
_OPEN_MPI_LIST = "OMPI_MCA_mca_base_env_list"
#: Where the launcher of Open MPI keeps its files on this host. It leaves them there if it is killed.
_SESSION_DIRECTORY = "PRTE_MCA_prte_local_tmpdir_base"


def _cores() -> int:
    """The cores that this process, and the ranks that it starts on this host, may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def crowding(ranks: int, environ: Mapping[str, str], cores: int) -> str:
    """What is slower, and what to write, where ranks or their threads outnumber the cores; else empty."""
    if ranks == 1 or on_other_hosts(environ):
        return ""
    if ranks > cores:
        slower = "ranks take turns, and those that have a core wait for those that have none"
        return f"{ranks} ranks on {_counted(cores, 'core')}: {slower}; write `-n {cores}`"
    threads, variable = max(((_number(environ.get(name, "")), name) for name in _THREADS), default=(1, ""))
    if ranks * threads > cores:
        slower = "threads take turns"
        fewer = max(1, cores // ranks)
        instead = f"write `{variable}={fewer}` before the command"
        if variable == ENVIRONMENT["threads"]:
            crowded = f"{ranks} ranks of {threads} threads on {_counted(cores, 'core')}"
            return f"{crowded}: {slower}; write `--threads {fewer}`"
        return f"{ranks} ranks with {variable}={threads} on {_counted(cores, 'core')}: {slower}; {instead}"
    return ""


def _with(settings: Mapping[str, str | int]) -> dict[str, str]:
    """The environment of the ranks, as far as it is set."""
    return os.environ | {name: str(value) for name, value in settings.items()}


def _thread_settings(environ: Mapping[str, str], alone: bool) -> dict[str, str]:
    """What ranks are given for the threads of libraries, unless the user has set it himself."""
    number = environ.get(ENVIRONMENT["threads"], "").strip()
    return ({} if alone else _IDLE) | (dict.fromkeys(_LIBRARIES, number) if number.isdecimal() else {})


def _number(text: str) -> int:
    """The number of threads of the outermost level; 1 where none is given."""
    first = text.split(",")[0].strip()
    return int(first) if first.isdecimal() and len(first) < 9 else 1


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _strategy(text: str) -> str:
    """The option, if it names a strategy."""
    if text not in AVAILABLE:
        known = ", ".join(AVAILABLE)
        raise argparse.ArgumentTypeError(f"expected one of {known}; found {text!r}{nearest(text, AVAILABLE)}")
    return text


def _group(text: str) -> str:
    """The option, if it knows each word; the runtime, which knows the ranks, checks how they combine."""
    for word in map(str.strip, text.split(",")):
        if word not in (*GROUP_KINDS, *GROUP_FLAGS) and not re.fullmatch("0*[1-9][0-9]*", word):
            known = ", ".join((*GROUP_KINDS, *GROUP_FLAGS))
            raise argparse.ArgumentTypeError(f"expected integers above 0 and {known}; found {word!r}")
    return text


class CannotStartError(Exception):
    """The program could not be started, for the reason given by ``diagnostic``."""

    def __init__(self, code: str, reason: str = "") -> None:
        from dlbc.diagnostics.catalogue import report
        from dlbc.parse.read_source import WHOLE_FILE

        self.diagnostic = report(code, WHOLE_FILE, reason=reason)
        super().__init__(self.diagnostic.message)

    def show(self, path: Path) -> int:
        """Print the diagnostic of the program at ``path``, and return its exit status."""
        from dlbc.source import Source

        return common.show_diagnostics(Source(str(path), b"", ""), (self.diagnostic,))


def run_program(
    program: WholeProgram, ranks: int, settings: Mapping[str, str | int], arguments: Sequence[str]
) -> int:
    """Run the program, on one rank if it has nothing to run in parallel. Raises CannotStartError.

    Returns its exit status, as `launch` does.
    """
    outlived = _with(settings).get(ENVIRONMENT["fault_tolerant"], "").strip() == "1"
    hostfile = str(settings.get(HOSTFILE, ""))
    start = launcher(ranks if program.parallel else 1, outlived=outlived, hostfile=hostfile)
    try:
        shared = shared_directory(program.path, settings)
        # A launcher that was killed may still write there.
        with tempfile.TemporaryDirectory(prefix=".dlbc-", dir=shared, ignore_cleanup_errors=True) as name:
            file = write_plan(program, ranks, Path(name))
            here = 0 if on_other_hosts(_with(settings)) else ranks
            beginning = Beginning(file.with_name(BEGAN), here) if outlived and start else None
            return launch(start, ["-m", "dlbrt.script", str(file), *arguments], settings, beginning)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CannotStartError("DLB016", reason=reason) from error


def write_plan(program: WholeProgram, ranks: int, directory: Path) -> Path:
    """Write the generated files, and a plan that `dlbrt.script` runs; the file of the plan.

    Beside it is a directory for the `WATCHERS`.
    """
    generated = {}
    for number, (path, text) in enumerate(program.generated):
        file = directory / f"{number}_{path.name}"
        file.write_bytes(text)
        generated[os.path.realpath(path)] = str(file)
    plan: RunPlan = {
        "program": str(program.path),
        "module": program.module,
        "generated": generated,
        "roots": [os.path.realpath(root) for root in program.roots],
        "named": [os.path.realpath(root) for root in program.named],
        "options": ["--strict"] if program.strict else [],
        "parallel": program.parallel,
        "ranks": ranks,
    }
    directory.joinpath(WATCHERS).mkdir()
    file = directory / "plan.json"
    file.write_text(json.dumps(plan), encoding="utf-8")
    return file


def malformed(settings: Mapping[str, str | int], ranks: int) -> str:
    """What is wrong with the options of a run, in the words of generated programs; empty if nothing is.

    For programs with nothing to run in parallel, which do not read their options.
    """
    from dlbrt.contract import OptionError
    from dlbrt.options import Options

    try:
        Options.read({name: str(value) for name, value in settings.items()}, ranks)
    except OptionError as error:
        return str(error)
    return ""


def launch(
    start: Sequence[str],
    words: Sequence[str],
    settings: Mapping[str, str | int],
    beginning: Beginning | None = None,
) -> int:
    """Run Python with the arguments ``words`` under the launcher command ``start``.

    ``beginning`` is given where ranks may die (`run_command`). Returns the exit status, 128 + N if signal N
    ended it or this process. OSError if it cannot be started.
    """
    environment = environment_of(settings, alone=not start)
    passes_by = bool(start) and words[:2] == ["-m", "dlbrt.script"] and Path(start[0]).name != "srun"
    watchers = Path(words[2]).with_name(WATCHERS) if passes_by else None
    given = any(name.endswith("tmpdir_base") for name in environment)
    if watchers is not None and not given and not on_other_hosts(environment):
        environment |= {_SESSION_DIRECTORY: str(watchers.parent)}
    if beginning is not None:
        environment |= {"MPI4PY_RC_FINALIZE": "0"}  # MPI's end would wait for ranks that have died
    command = [*start, sys.executable, *words]
    return run_command(command, environment, passes_by=passes_by, beginning=beginning, watchers=watchers)


def environment_of(settings: Mapping[str, str | int], alone: bool) -> dict[str, str]:
    """The environment of the ranks; ``alone``: there is one."""
    # All ranks need the same order of sets; as in a sequential run, that order differs from run to run.
    seed = {"PYTHONHASHSEED": str(int.from_bytes(os.urandom(4), "big"))}
    given = _with(settings)
    found = seed | _thread_settings(given, alone) | given
    return found if alone else found | _passed_on(found)


def _passed_on(environ: Mapping[str, str]) -> dict[str, str]:
    """What has Open MPI give ranks of other hosts these settings too; MPICH and Slurm give them all."""
    settings = ("PYTHONHASHSEED", *_LIBRARIES, *_IDLE)
    names = [name for name in environ if name in settings or name.startswith("DLB_")]
    given = environ.get(_OPEN_MPI_LIST, "")
    return {_OPEN_MPI_LIST: ";".join([*given.split(";"), *sorted(names)] if given else sorted(names))}


def launcher(ranks: int, *, outlived: bool = False, hostfile: str = "") -> list[str]:
    """The launcher command, to stand before the program's; empty for one rank. Raises CannotStartError.

    ``outlived``: ranks above 0 may die. Where the launcher knows of no such thing, ranks say so.
    """
    if ranks == 1:
        return []
    mpiexec = find_mpiexec()
    if mpiexec is None:
        srun = find_srun()
        if srun is None:
            raise CannotStartError("DLB015")
        return [srun, "-n", str(ranks)]
    family = family_of(version_text(mpiexec))
    options = vendor_options(family, one_host=not (hostfile or on_other_hosts(os.environ)))
    tolerant = ["--with-ft", "ulfm"] if outlived and family is MpiFamily.OPEN_MPI else []
    return [mpiexec, *options, *tolerant, *hostfile_options(family, hostfile), "-n", str(ranks)]


def shared_directory(source: Path, settings: Mapping[str, str | int] | None = None) -> str | None:
    """Where temporary files of a run with these settings go; None for the system's own directory.

    Where ranks may run on other hosts, it is the source's directory, which all hosts see.
    """
    directory = source.absolute().parent
    is_shared = on_other_hosts(_with(settings or {}))
    return str(directory) if is_shared and os.access(directory, os.W_OK) else None
