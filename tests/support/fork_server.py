"""Starts Python programs by forking a process that has imported the runtime and what it needs already.

Importing takes most of the time of a short program. The more a server has imported, the more memory each fork
copies as it ends, so libraries that few programs need have servers of their own. A fork begins where a fresh
interpreter would be after these imports: with a new `__main__`, its own arguments, environment, directory and
streams, and MPI is initialized when the program imports it, as ever. Tracebacks, statuses and `atexit` are
the interpreter's.

`hand_over.py` asks for a fork and ends as the fork ends; where it is killed, the fork is, too.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib.abc
import importlib.machinery
import marshal
import os
import pkgutil
import select
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from tests.support import processes

_PR_SET_PDEATHSIG = 1
_MPI = "mpi4py.MPI"


class _InitializingMPI(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Initializes MPI when the program imports it, as the module itself does when it is loaded."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(name, self) if name == _MPI else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.Init_thread(module.THREAD_MULTIPLE)


def import_all(libraries: Sequence[str]) -> None:
    """Imports the runtime, what it needs, and ``libraries``. MPI is left for the fork to initialize.

    Where a fork ends, these modules are not taken apart: that would copy all of their memory.
    """
    import mpi4py

    mpi4py.rc(initialize=False, finalize=True)
    import dlbrt.mpi.session

    for module in pkgutil.walk_packages(dlbrt.__path__, "dlbrt."):
        importlib.import_module(module.name)
    for name in libraries:
        importlib.import_module(name)

    sys.meta_path.insert(0, _InitializingMPI(sys.modules.pop(_MPI)))
    delattr(mpi4py, "MPI")
    loaded = sys.modules.copy()
    atexit.register(_keep, loaded)  # comes last, as the first to be registered
    gc.collect()
    gc.freeze()


def _keep(modules: dict[str, ModuleType]) -> None:
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(modules))
    for name in modules.keys() - {"builtins", "sys", "__main__"}:
        del sys.modules[name]


@dataclass(frozen=True, slots=True)
class Request:
    """A program to run; ``fds`` are its standard streams, and the connection to mpiexec if there is one."""

    cwd: str
    arguments: list[str]
    environment: dict[str, str]
    fds: list[int]

    def take_place(self) -> None:
        """Makes this process one that was started so."""
        for number, fd in enumerate(self.fds[:3]):
            os.dup2(fd, number)
            os.close(fd)
        os.environ.clear()
        os.environ.update(self.environment)
        for fd in self.fds[3:]:
            os.environ["PMI_FD"] = str(fd)
        processes.mark(os.environ[processes.TOKEN], int(os.environ.get("PMI_RANK", "0")))
        del os.environ[processes.SERVERS]
        os.chdir(self.cwd)


@dataclass(frozen=True, slots=True)
class _Fork:
    """A program that runs; ``ended`` is a descriptor that tells when it does."""

    pid: int
    ended: int
    asked: socket.socket

    def reap(self) -> None:
        """Tells who asked how the program has ended."""
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        with suppress(OSError):
            self.asked.send(status.to_bytes(4, "big", signed=True))
        os.close(self.ended)
        self.asked.close()


def serve(listener: socket.socket) -> Request:
    """Returns in each fork, with what it is to run; the server ends when its standard input does."""
    forks: list[_Fork] = []
    while True:
        watched = [sys.stdin, listener, *(f.ended for f in forks), *(f.asked for f in forks)]
        ready, _, _ = select.select(watched, (), ())
        if sys.stdin in ready:
            sys.exit()
        if listener in ready:
            asked, _ = listener.accept()
            if request := _received(asked):
                if (fork := _fork(asked)) is None:
                    for each in (listener, asked, *(f.asked for f in forks)):
                        each.close()
                    for other in forks:
                        os.close(other.ended)
                    return request
                forks.append(fork)
                for fd in request.fds:
                    os.close(fd)
        for fork in [f for f in forks if f.ended in ready]:
            forks.remove(fork)
            fork.reap()
        for fork in [f for f in forks if f.asked in ready]:  # who asked was killed
            os.kill(fork.pid, signal.SIGKILL)


def _received(asked: socket.socket) -> Request | None:
    head, fds, _, _ = socket.recv_fds(asked, 4, 8)
    with asked.makefile("rb") as stream:
        content = stream.read(int.from_bytes(head, "big"))
    return Request(*marshal.loads(content), fds) if content else None


def _fork(asked: socket.socket) -> _Fork | None:
    """None in the fork."""
    server = os.getpid()
    if pid := os.fork():
        return _Fork(pid, os.pidfd_open(pid), asked)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:
        os.abort()
    return None


def run_file(arguments: list[str]) -> None:
    """Runs a program as ``python FILE ARGUMENTS`` does, and ends the process."""
    sys.argv[:] = arguments
    sys.path[0] = os.path.dirname(os.path.realpath(arguments[0]))
    sys.modules["__main__"] = main = ModuleType("__main__")
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", arguments[0])
    libc, api = ctypes.CDLL(None), ctypes.pythonapi
    libc.fopen.restype = ctypes.c_void_p
    api.PyRun_SimpleFileExFlags.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p]
    name = os.fsencode(os.path.abspath(arguments[0]))
    sys.exit(bool(api.PyRun_SimpleFileExFlags(libc.fopen(name, b"rb"), name, 1, None)))


if __name__ == "__main__":
    place, *needed = sys.argv[1:]
    import_all(needed)
    opened = socket.socket(socket.AF_UNIX)
    opened.bind(place + ".new")
    opened.listen(64)
    os.rename(place + ".new", place)
    wanted = serve(opened)
    wanted.take_place()
    run_file(wanted.arguments)
