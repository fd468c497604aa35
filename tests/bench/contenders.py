"""The contenders of tests/bench/peers.py: how each is started, and a running one.

A contender is started once for a workload and computes when asked, so that the repetitions of all take
turns within one invocation. Between its turns it is stopped (SIGSTOP), because ranks and threads that wait
keep processors busy; clusters that watch their members' health go on.
"""

from __future__ import annotations

import importlib.util
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support import processes
from tests.support.mpi import find_mpiexec

HERE = Path(__file__).resolve().parent / "programs" / "peers"
ROOT = HERE.parents[3]


class NoAnswerError(Exception):
    """A contender ended, or took too long."""


@dataclass(frozen=True, slots=True)
class Contender:
    """How a contender is started.

    ``program`` has its words before workload and sizes; ``clause`` stands for `, jit` in this project's
    programs. ``ranks`` are added to those asked for, None without mpiexec; ``needs`` is what it imports, and
    ``lacks`` are workloads that it has no program for.
    """

    label: str
    program: tuple[str, ...] = ()
    clause: str | None = None
    ranks: int | None = None
    needs: str = "numba"
    stops: bool = True
    lacks: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)


def _threads(label: str, how: str, **env: str) -> Contender:
    return Contender(label, ("threads.py", how), env=env)


def _pool(label: str, how: str, needs: str, stops: bool = True) -> Contender:
    return Contender(label, ("pools.py", how), needs=needs, stops=stops)


#: The words of the contender that is the workload's program as it is.
PLAIN = ("plain",)

CONTENDERS = {
    "sequential": _threads("numba, 1 thread", "sequential"),
    "by_hand": _threads("numba by hand, 1 thread", "by_hand"),
    "plain": Contender("plain Python", PLAIN, needs="numpy"),
    "python": Contender("dlbc, Python", clause=""),
    "as_written": Contender("dlbc jit(as_written)", clause=", jit(as_written)"),
    "jit": Contender("dlbc jit", clause=", jit"),
    "mpi4py": Contender("mpi4py + numba", ("ranks.py", "as_written"), ranks=0, needs="mpi4py"),
    "mpi4py_by_hand": Contender("mpi4py + numba by hand", ("ranks.py", "by_hand"), ranks=0, needs="mpi4py"),
    "prange": _threads("numba prange", "prange"),
    "prange_tbb": _threads("numba prange, TBB", "prange_tbb", NUMBA_THREADING_LAYER="tbb"),
    "prange_by_hand": _threads("numba prange by hand", "prange_by_hand"),
    "pythran_strict": Contender("Pythran OpenMP, strict", ("by_pythran.py", "strict"), needs="pythran"),
    "pythran": Contender("Pythran OpenMP, as shipped", ("by_pythran.py", "shipped"), needs="pythran"),
    "joblib": _pool("joblib", "joblib", "joblib"),
    "joblib_threads": _pool("joblib, threads", "joblib_threads", "joblib"),
    "multiprocessing": _pool("multiprocessing", "multiprocessing", "numba"),
    "futures": Contender("mpi4py.futures", ("pools.py", "futures"), ranks=1, needs="mpi4py"),
    "dask": _pool("dask", "dask", "distributed", stops=False),
    "ray": _pool("ray", "ray", "ray", stops=False),
    "library": Contender(
        "numpy, scipy", ("one_liners.py", "library"), needs="scipy", lacks=("trfd", "mandelbrot")
    ),
}


def missing(contender: Contender) -> bool:
    """Whether what it needs is not installed."""
    return importlib.util.find_spec(contender.needs) is None


def command(contender: Contender, name: str, sizes: Sequence[int], ranks: int, place: Path) -> list[str]:
    """The command line; this project's programs are written to ``place``, with the clause."""
    words = [str(size) for size in sizes]
    if contender.clause is not None:
        shutil.copy(HERE / "peer.py", place)
        text = (HERE / f"{name}.py").read_text(encoding="utf-8").replace(", jit", contender.clause)
        Path(place, f"{name}.py").write_text(text, encoding="utf-8")
        return [sys.executable, "-m", "dlbc", "run", "-n", str(ranks), str(place / f"{name}.py"), *words]
    if contender.program == PLAIN:
        return [sys.executable, str(HERE / f"{name}.py"), *words]
    program = [sys.executable, str(HERE / contender.program[0])]
    if contender.program[-1] == "futures":
        program[1:1] = ["-m", "mpi4py.futures"]
    launcher = [] if contender.ranks is None else [*find_mpiexec(), "-n", str(ranks + contender.ranks)]
    return [*launcher, *program, contender.program[1], name, *words]


def environment(contender: Contender, ranks: int, place: Path) -> dict[str, str]:
    """As many threads as ranks in one process, one in each of several; no settings or stores of the user."""
    several = (
        contender.clause is not None or contender.ranks is not None or contender.program[0] == "pools.py"
    )
    threads = str(1 if several else ranks)
    names = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("DLB_")}
    libraries = os.pathsep.join([str(Path(sys.prefix, "lib")), os.environ.get("LD_LIBRARY_PATH", "")])
    return {
        **inherited,
        **dict.fromkeys(names, threads),
        "PEER_WORKERS": str(ranks),
        "PEER_OUT": str(place / "result.npy"),
        "PYTHONPATH": os.pathsep.join([str(HERE), str(ROOT), str(ROOT / "runtime")]),
        "XDG_CACHE_HOME": str(place / "cache"),
        **({"LD_LIBRARY_PATH": libraries} if "NUMBA_THREADING_LAYER" in contender.env else {}),
        **contender.env,
    }


class Running:
    """A contender at work on one workload; what it says on standard error is in ``place``."""

    def __init__(
        self, contender: Contender, name: str, sizes: Sequence[int], ranks: int, place: Path
    ) -> None:
        self.place = place
        self._stops = contender.stops
        self._token = uuid.uuid4().hex
        env = environment(contender, ranks, place) | {processes.TOKEN: self._token}
        with (place / "stderr").open("wb") as stderr:
            self._process = subprocess.Popen(
                command(contender, name, sizes, ranks, place),
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,
                text=True,
            )

    def said(self) -> str:
        """Standard error so far."""
        return (self.place / "stderr").read_text(encoding="utf-8", errors="replace")

    def answer(self, word: str, limit_s: float) -> tuple[float, str]:
        """Seconds of one computation, and the digest of its result."""
        self._signal(signal.SIGCONT)
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(f"{word}\n")
            self._process.stdin.flush()
        found = json.loads(self._line(limit_s))
        self._signal(signal.SIGSTOP)
        return float(found["seconds"]), str(found["digest"])

    def end(self) -> None:
        """Ends all of its processes."""
        self._signal(signal.SIGCONT)
        assert self._process.stdin is not None
        with suppress(BrokenPipeError, subprocess.TimeoutExpired):
            self._process.stdin.close()
            self._process.wait(10)
        processes.end_all(self._token)
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def _line(self, limit_s: float) -> str:
        """The next line of JSON on standard output."""
        assert self._process.stdout is not None
        until = time.monotonic() + limit_s
        while select.select([self._process.stdout], [], [], max(0.0, until - time.monotonic()))[0]:
            line = self._process.stdout.readline()
            if line.startswith("{"):
                return line
            if not line:
                raise NoAnswerError("ended")
        raise NoAnswerError(f"no answer after {limit_s:.0f} s")

    def _signal(self, number: signal.Signals) -> None:
        if self._stops:
            for member in processes.members(self._token):
                with suppress(ProcessLookupError):
                    os.kill(member.pid, number)
