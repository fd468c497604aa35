"""One program's use of the runtime: rank 0 runs the program, the other ranks serve its loops.

`start` is the first statement of a generated program. On rank 0 it returns the `Session` that the program
calls ``dlb``; on the other ranks it serves loops until rank 0 ends, and then ends the process, so that
the sequential part of a program runs exactly once.

Processes leave so that the launcher reports the program's own status. A launcher that finds one process gone
with a status other than 0 kills the others, and may report the signal that killed them instead. So rank 0,
where it leaves by `os._exit`, first dismisses the other ranks and waits until those on its host are gone.
"""

from __future__ import annotations

import atexit
import functools
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn

import cloudpickle
import mpi4py
import numpy as np
from mpi4py import MPI

import dlbrt.data.shown_warnings  # noqa: F401 - it notes how they are shown before the program changes that
from dlbrt.contract import VERSION, OptionError
from dlbrt.emulation import named
from dlbrt.mpi.board import board
from dlbrt.mpi.communicator import Communicator, RanksLostError
from dlbrt.mpi.failure import install_hook
from dlbrt.mpi.interrupts import interrupts
from dlbrt.mpi.leftovers import forget_segments
from dlbrt.mpi.loop import refuse_stale
from dlbrt.mpi.measuring.network import known
from dlbrt.mpi.root.program_history import ProgramHistory
from dlbrt.mpi.root.runtime import RootRuntime
from dlbrt.mpi.runner import LoopRunner
from dlbrt.observe.terminal import write_line
from dlbrt.options import Options
from dlbrt.reductions.unbound import value_or_unbound

if TYPE_CHECKING:
    from pathlib import Path

    from dlbrt.mpi.routines.routine import IterativeRoutine
    from dlbrt.observe.measurements import MeasurementStore
    from dlbrt.observe.trace_writer import TraceWriter

#: Seconds that rank 0 waits at most for the other ranks of its host to be gone.
_EXIT_TIMEOUT_S = 1.0

_current: Session | None = None

#: Exit status of a program whose options are malformed or whose ranks do not match.
_USAGE = 2


def neighbours(communicator: Communicator) -> tuple[int, ...]:
    """The process numbers of the other ranks on this host."""
    mine = MPI.Get_processor_name()
    reports = communicator.comm.allgather((mine, os.getpid()))
    return tuple(pid for host, pid in reports if host == mine and pid != os.getpid())


def exit_together(
    leave: Callable[[int], NoReturn],
    dismiss: Callable[[], bool],
    others: Sequence[int],
    finalize: Callable[[], None] = MPI.Finalize,
) -> Callable[[int], NoReturn]:
    """`os._exit` for rank 0: the other ranks are dismissed first, if they can be."""

    @functools.wraps(leave)
    def leave_together(status: int) -> NoReturn:
        interrupts.ignore()
        board.leave()
        if dismiss():
            finalize()
            end = time.monotonic() + _EXIT_TIMEOUT_S
            while any(map(_runs, others)) and time.monotonic() < end:
                time.sleep(1e-3)
        leave(status)

    return leave_together


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class Session(LoopRunner):
    """``dlb`` in a generated program."""

    if not TYPE_CHECKING:
        __getattr__ = refuse_stale("dlb")

    def iterate(self, plain: Callable[[], tuple[Any, ...]] | None = None, **clauses: Any) -> IterativeRoutine:
        """An iterative routine, whose loops leave their arrays on the ranks; see `IterativeRoutine`.

        ``plain`` returns the values of names that the compiler takes to hold numbers, text and the like.
        """
        from dlbrt.mpi.routines.routine import IterativeRoutine

        return IterativeRoutine(self._root_runtime, plain, place=sys._getframe(1), **clauses)

    def bound(self, read: Callable[[], Any]) -> Any:
        """The value of a name that may have none, which is an error only where an iteration reads it."""
        return value_or_unbound(read, sys._getframe(1).f_code)

    def __reduce__(self) -> tuple[Callable[[], Session], tuple[()]]:
        return _session, ()


def _session() -> Session:
    """The session of this process, which a session sent from another rank becomes here."""
    assert _current is not None
    return _current


def start(world: MPI.Intracomm, importing: FrameType | None = None, launched: int | None = None) -> Session:
    """Start the runtime on all ranks of ``world``; returns on rank 0 only.

    ``importing`` is the frame that calls for the start where that is not the program itself but a module
    that it imports; ``launched`` is the number of ranks that were launched, where it is known. A malformed
    option, a program that has done something before that import, fewer ranks than were launched, or ranks
    that run other versions of Python or of the packages that results depend on, end the program with status
    2 and one line on standard error, before any work starts.
    """
    try:
        return _started(world, importing, launched)
    except (MPI.Exception, RanksLostError) as error:
        from dlbrt.mpi.tolerance import die, obstacle, reports_death

        if obstacle(os.environ) or not (isinstance(error, RanksLostError) or reports_death(error)):
            raise
        if world.Get_rank() == 0:
            text = "dlb: a rank has died before the program began"
            write_line(text)
        die()


def _started(world: MPI.Intracomm, importing: FrameType | None, launched: int | None) -> Session:
    global _current
    if _current is None:
        if world.Get_rank():
            interrupts.serve()
        communicator = Communicator(world)
        if launched is not None and launched != communicator.ranks:
            _refuse(communicator, _apart(launched, communicator.ranks))
        if importing is not None and communicator.ranks > 1:
            _refuse_late(communicator, importing)
        options, kept, learned = _options(communicator)
        if options.fault_tolerant and communicator.ranks > 1:
            communicator = _tolerant(communicator)
        hosts = _agree(communicator)
        forget_segments()
        communicator.be_watched(options.timeout_s)
        root_runtime = RootRuntime(
            communicator, options, ProgramHistory(communicator.ranks, hosts, learned, kept, options.keeper)
        )
        root_runtime.networks = known(communicator, hosts, os.environ)
        root_runtime.tracing = _tracing(communicator, options, hosts) if options.trace else None
        if options.progress and communicator.rank == 0:
            from dlbrt.mpi.output.progress import RootProgress

            root_runtime.progress = RootProgress(communicator, options)
        others = neighbours(communicator)
        _current = Session(root_runtime)
        if communicator.rank:
            _serve(communicator, options, late=importing is not None)
        install_hook(several=communicator.ranks > 1)
        atexit.register(root_runtime.stop)
        # Where ranks may die, none waits for others at its end.
        finalize = (lambda: None) if communicator.tolerates_deaths else MPI.Finalize
        leave = exit_together(os._exit, root_runtime.shut_down_workers, others, finalize)
        setattr(os, "_exit", leave)  # noqa: B010
    return _current


def start_program(launched: int) -> None:
    """Start the runtime on all ranks before the program itself; returns on rank 0 only."""
    start(MPI.COMM_WORLD, launched=launched)


def _apart(launched: int, ranks: int) -> str:
    """What is said where the launcher has not joined the ranks: each would run the whole program."""
    return (
        f"{launched} ranks were launched, and MPI has joined {ranks}: the launcher belongs to another MPI "
        f"than mpi4py; `dlbc doctor -n {launched}` says more"
    )


def _options(communicator: Communicator) -> tuple[Options, Path | None, MeasurementStore | None]:
    """The options as rank 0 reads them: its environment counts, and the files are on its host.

    On rank 0 also the file in which measurements are kept, and those of earlier runs.
    """
    found: Options | str = ""
    kept, learned = None, None
    if communicator.rank == 0:
        try:
            found = options = _shown(Options.read(os.environ, communicator.ranks))
            if options.learned or options.weights_last:
                from dlbrt.observe.measurements import path_for, read

                kept = path_for(options.learned, options.weights_last, sys.argv[0], os.environ)
                try:
                    learned = read(kept, options.keeper) if kept else None
                except OptionError as error:
                    if options.learned:
                        raise
                    write_line(f"dlb: {error}; this run goes without it")
                    kept = None
        except OptionError as error:
            found = str(error)
    found = communicator.comm.bcast(found, root=0)
    if isinstance(found, str):
        _refuse(communicator, found)
    return found, kept, learned


def _shown(options: Options) -> Options:
    """The options, without progress where nothing can show it."""
    if options.progress is None:
        return options
    from dlbrt.mpi.output.progress import shown

    return shown(options)


def _tolerant(communicator: Communicator) -> Communicator:
    """The communicator where ranks may die; where this MPI cannot do without ranks, all end."""
    from dlbrt.mpi.tolerance import TolerantCommunicator, obstacle

    reasons = communicator.comm.allgather(obstacle(os.environ))
    if reason := next(filter(None, reasons), ""):
        _refuse(communicator, f"{named('fault_tolerant')}: {reason}")
    return TolerantCommunicator(communicator)


def _agree(communicator: Communicator) -> list[str]:
    """The ranks' host names, after checking that all run the same versions."""
    mine = (
        ("Python", platform.python_implementation() + " " + platform.python_version()),
        ("dlbrt", VERSION),
        ("numpy", np.__version__),
        ("mpi4py", mpi4py.__version__),
        ("cloudpickle", cloudpickle.__version__),
        ("byte order", sys.byteorder),
    )
    reports = communicator.comm.allgather((MPI.Get_processor_name(), mine))
    for rank, (host, versions) in enumerate(reports):
        for (what, expected), (_, found) in zip(reports[0][1], versions, strict=True):
            if expected != found:
                _refuse(
                    communicator,
                    f"rank 0 on {reports[0][0]} runs {what} {expected}, rank {rank} on {host} runs {found}; "
                    "install the same version on every host",
                )
    return [host for host, _ in reports]


def _tracing(communicator: Communicator, options: Options, hosts: list[str]) -> TraceWriter:
    """The trace that rank 0 will write, with how far each rank's clock is ahead of its own."""
    from dlbrt.mpi.measuring.collective_timer import CollectiveTimer
    from dlbrt.mpi.team import clock
    from dlbrt.observe.trace import TracedMachine
    from dlbrt.observe.trace_writer import TraceWriter

    clock_offset_s = communicator.comm.allgather(CollectiveTimer(communicator).clock_offset_s)
    return TraceWriter(hosts, clock(), TracedMachine(options.load, options.weights or ()), clock_offset_s)


def _refuse(communicator: Communicator, message: str) -> NoReturn:
    """End every rank with the same status; all call this, and rank 0 prints the message."""
    if communicator.rank == 0:
        write_line(f"dlb: {message}")
    sys.exit(_USAGE)


def _refuse_late(communicator: Communicator, importing: FrameType) -> None:
    """End every rank where the program did something on all of them before it started the runtime."""
    from dlbrt.mpi.late_start import effect_before_start

    place = effect_before_start(importing) if communicator.rank == 0 else None
    if place := communicator.comm.bcast(place, root=0):
        module = importing.f_globals.get("__name__")
        _refuse(
            communicator,
            f"{place} has run on every rank, before the import of {module} started the runtime; import "
            f"{module} first, or start the program with `dlbc run -n P`, or transform all of it with "
            "`dlbc transform DIR -o OUT`",
        )


def _leave_unseen() -> NoReturn:
    """End this process inside an import by the program, which must not see it, and may not go on."""
    import ctypes

    MPI.Finalize()
    sys.stdout.flush()
    sys.stderr.flush()
    # Unlike `os._exit`, it runs what MPI has registered with C: else the launcher loses rank 0's status.
    ctypes.PyDLL(None).exit(0)
    raise AssertionError("exit returned")


def _serve(communicator: Communicator, options: Options, *, late: bool) -> NoReturn:
    """Serve rank 0's loops, then end the process; ``late``: inside an import by the program."""
    from dlbrt.mpi.worker import serve

    if late:
        from dlbrt.mpi.late_start import forget_unfinished_modules

        forget_unfinished_modules()
    communicator.serve()
    try:
        serve(communicator, options, late=late)
        board.leave()
        communicator.close()
        if late:
            _leave_unseen()
    except KeyboardInterrupt:
        os._exit(130)
    except BaseException as error:
        communicator.fail(error)
    sys.exit(0)
