"""Kills ranks of running programs at random moments, and looks whether the results are right.

``python -m tests.fuzz.random_kills 500`` kills workers of programs on 4 ranks under ``dlbc run
--fault-tolerant`` until 500 have been killed, 1 to 3 in a run, at any moment from the start of the launcher
to the end. Each run has to end by itself, with the output and the status of the sequential program. With
``--mpich`` (in an environment with MPICH) each run loses one rank, has to end within 5 s of that with a
status other than 0 and one line that says so, and leaves no process and no segment of shared memory (so
nothing else may kill jobs of MPICH on the machine meanwhile).

With ``--signals`` the programs go on until, up to 0.3 s after the last death, a signal comes: an interrupt to
`dlbc run`, to mpiexec or to rank 0, or SIGTERM or SIGHUP to `dlbc run`. An interrupt has to reach the program
as KeyboardInterrupt, with all iterations done before the first that is not, and its clauses run. The job has
to end within 5 s with the status of the signal, and leaves no process and no file.

Prints each run that went wrong, with its seed, and at the end how many were right; exit status 1 if any was
wrong. ``--record FILE`` writes what was measured as JSON; a campaign goes on from the runs that the file has,
with the seed after their last. ``--plot FILE`` draws the time lost by runs against the moment of the (last)
death.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from dlbc.commands.segments import segments, unused
from tests.support import processes
from tests.support.mpi import find_mpiexec, transform

RANKS = 4
#: A run that has not ended after so many seconds hangs.
_HANGS_S = 90.0
#: Seconds between two looks whether ranks have been stopped by a signal, or have waited for a processor for
#: such a part of them.
_LOOK_S, _STARVED = 1.0, 0.9
#: Within which a job has to end that cannot go on, and what it says: by the process that watches its ranks,
#: or by `dlbc run` where there is none yet.
_CLEAR_S = 5.0

#: What another job removes when it ends is gone after so many seconds.
_OTHERS_S = 3.0
_CLEAR = re.compile(
    r"(?m)^dlbc?: .* (?:has died|was killed \(signal 9\)|launcher failed \(status 255\) before)"
)
_STRATEGIES = (
    "auto",
    "none",
    "GDDLB",
    "GCDLB",
    "LDDLB",
    "LCDLB",
    "steal",
    "diffusion",
    "GSS",
    "FAC2",
    "AWF_B",
)

_WORK = """\
import numpy as np

def work(i, m):
    t = 0.0
    for k in range(m):
        t += (i * k) % 7 * 0.5
    return t
"""

#: What programs print is what is compared, so they print all of their results to the last bit.
PROGRAMS = {
    "rows changed in place": """
A = np.arange(300 * 40, dtype=float).reshape(300, 40)
for r in range(2):
    # dlb: parallel, BLOCK
    for i in range(300):
        A[i, :] = A[i, :] * 1.5 + work(i, 4000)
print(A.tobytes().hex())
""",
    "reductions": """
s, low, hist = 0.1, 1e9, np.zeros(7)
b = np.arange(400) % 7
for r in range(2):
    # dlb: parallel, reduction(s, low, hist)
    for i in range(400):
        x = work(i, 3000) * 1e-3 + 0.1 * r
        s += x
        low = min(low, x - i * 0.3)
        hist[b[i]] += x
print(repr(s), repr(low), hist.tobytes().hex())
""",
    "printed lines and appended items": """
found, table = [], {}
for r in range(2):
    # dlb: parallel
    for i in range(300):
        x = work(i, 4000)
        if i % 7 == 0:
            print("iteration", r, i, x)
            found.append((i, x))
        table[i % 50] = x
print(found, table)
""",
    "stencil of a routine": """
u = np.linspace(0.0, 1.0, 240 * 30).reshape(240, 30) ** 2
v = u.copy()
# dlb: iterate
for t in range(8):
    # dlb: parallel, BLOCK
    for i in range(1, 239):
        v[i, :] = (u[i - 1, :] + u[i + 1, :]) * 0.5 + work(i, 1000) * 1e-9
    u, v = v, u
    if t % 3 == 0:
        print(t, u[120, 7].hex())
print(u.tobytes().hex())
""",
    "cyclic": """
A, last = np.zeros(300), None
for r in range(2):
    # dlb: parallel, CYCLIC
    for i in range(300):
        last = work(i, 12 * i)
        A[i] += last + 0.1
print(A.tobytes().hex(), last)
""",
    "compiled": """
X, Y, Z = (np.arange(260 * 260, dtype=float).reshape(260, 260) % k for k in (7, 11, 13))
for r in range(40):
    # dlb: parallel, BLOCK, jit
    for i in range(260):
        for j in range(260):
            for k in range(260):
                Z[i, j] += X[i, k] * Y[k, j]
print(Z.tobytes().hex())
""",
    "objects of a list": """
class Point:
    def __init__(self, x):
        self.x, self.trail = x, []

ps = [Point(0.1 * k) for k in range(240)]
for r in range(2):
    # dlb: parallel
    for p in ps:
        p.x = p.x * 1.5 + work(int(p.x), 4000)
        p.trail.append(p.x)
print([(p.x, p.trail) for p in ps])
""",
    "an exception that is caught": """
A = np.ones(300)
for r in range(3):
    try:
        # dlb: parallel
        for i in range(300):
            if i == 200 + 30 * r:
                raise ValueError(f"at {i}")
            A[i] = A[i] * 1.1 + work(i, 3000)
    except ValueError as error:
        print(error, A[:200].tobytes().hex())
""",
    "calls that are not seen": """
import base64
A = np.zeros(300)
for r in range(3):
    # dlb: parallel
    for i in range(300):
        A[i] += work(i, 3000) + len(getattr(base64, "b" + "64encode")(bytes(i)))
print(A.tobytes().hex())
""",
}

#: The same of routines whose arrays stay on the ranks between checkpoints.
CHECKPOINTED = {
    "checkpoints of a stencil": """
u = np.linspace(0.0, 1.0, 240 * 30).reshape(240, 30) ** 2
v = u.copy()
# dlb: iterate, checkpoint=3
for t in range(40):
    # dlb: parallel, BLOCK
    for i in range(1, 239):
        v[i, :] = (u[i - 1, :] + u[i + 1, :]) * 0.5 + work(i, 200) * 1e-9
    u, v = v, u
    if t % 7 == 0:
        print(t, u[120, 7].hex())
print(u.tobytes().hex())
""",
    "checkpoints of rows changed in place": """
A, t, change = np.arange(300 * 40, dtype=float).reshape(300, 40) / 7, 0, 1.0
# dlb: iterate, checkpoint=1
while change > 1e-3 and t < 60:
    change = 0.0
    # dlb: parallel
    for i in range(300):
        A[i, :] = A[i, :] * 0.9 + work(i, 200) * 1e-9
        change += abs(A[i, 3]) * 1e-3
    t += 1
    if t % 9 == 0:
        A[t, :] = A[t - 1, :] + t
print(t, repr(change), A.tobytes().hex())
""",
    "checkpoints of rows and columns": """
A, B, low, seen = np.arange(120 * 120, dtype=float).reshape(120, 120) / 11, np.zeros((120, 120)), 1e9, []
# dlb: iterate, checkpoint=10
for t in range(20):
    # dlb: parallel
    for i in range(120):
        B[i, :] = A[i, :] * 0.5 + work(i, 200) * 1e-9
    # dlb: parallel, reduction(low)
    for j in range(120):
        A[:, j] = B[:, j] * 1.5 + t
        low = min(low, A[3, j])
    # dlb: parallel
    for i in range(1, 119):
        A[i, :] = A[i, :] + 1.0
        if i == 50 and t % 5 == 0:
            print("row", i, t)
    seen.append(A[t % 3, 5])
    if t == 12:
        B = B.T.copy()
print(repr(low), seen, A.tobytes().hex(), B.tobytes().hex())
""",
    "checkpoints of compiled loops": """
X, Y = (np.arange(200 * 200, dtype=float).reshape(200, 200) % k for k in (7, 11))
Z = np.zeros((200, 200))
# dlb: iterate, checkpoint=4
for t in range(160):
    # dlb: parallel, jit
    for i in range(200):
        for j in range(200):
            for k in range(200):
                Z[i, j] += X[i, k] * Y[k, j] * 1e-9
    # dlb: parallel, jit
    for i in range(200):
        for j in range(200):
            X[i, j] = Z[i, j] * 0.5
print(Z.tobytes().hex(), X.tobytes().hex())
""",
}

EVERY = PROGRAMS | CHECKPOINTED

#: Programs that go on until a signal comes: the variables of each, its loops (of which ``done`` were whole),
#: and whether what an interrupt leaves is right.
_UNTIL_INTERRUPTED = """\
import time
import numpy as np

def step(x):
    time.sleep(0.002)
    return x + 1

def are_done(rows, i, done):
    return bool((rows[:i] == done + 1).all() and ((rows == done) | (rows == done + 1)).all())

def added(n):
    total = 0.0
    for k in range(n):
        total += (k % 60 + 1) * 0.1
    return total

def main():
    i = done = 0
    C = np.arange(40.0)
    {variables}
    print("begins", flush=True)
    try:
        {loops}
    except KeyboardInterrupt:
        print("interrupted", {right}, flush=True)
        # dlb: parallel
        for j in range(40):
            C[j] = C[j] * 2 + 1
        print(C.sum(), flush=True)
        raise
    finally:
        print("finally", flush=True)

main()
"""
_INTERRUPTED = b"begins\ninterrupted True\n1600.0\nfinally\n"
INTERRUPTED = {
    "rows changed in place": (
        "A = np.zeros((60, 3000))",
        """while True:
            # dlb: parallel, BLOCK
            for i in range(60):
                A[i, :] = step(A[i, :])
            i, done = 0, done + 1""",
        "are_done(A[:, 0], i, done) and bool((A == A[:, :1]).all())",
    ),
    "one long loop": (
        "A = np.zeros(30000)",
        """# dlb: parallel, BLOCK
        for i in range(30000):
            A[i] = step(A[i])""",
        "are_done(A, i, done)",
    ),
    "contributions": (
        "log, total = [], 0.0",
        """while True:
            # dlb: parallel, reduction(total)
            for i in range(60):
                total += step(i) * 0.1
                log.append(i)""",
        "log == [k % 60 for k in range(len(log))] and total in (added(len(log)), added(len(log) + 1))",
    ),
    "objects of a list": (
        "ps = [[0] for _ in range(60)]",
        """while True:
            # dlb: parallel
            for i in range(60):
                ps[i] = [step(ps[i][0])]
            i, done = 0, done + 1""",
        "are_done(np.array(ps)[:, 0], i, done)",
    ),
    "calls that are not seen": (
        "A, unseen = np.zeros(60), globals()['st' + 'ep']",
        """while True:
            # dlb: parallel
            for i in range(60):
                A[i] = unseen(A[i])
            i, done = 0, done + 1""",
        "are_done(A, i, done)",
    ),
    "checkpoints of a stencil": (
        "A, B = np.zeros((60, 50)), np.zeros((60, 50))",
        """# dlb: iterate, checkpoint=3
        for t in range(1000000):
            # dlb: parallel
            for i in range(60):
                B[i, :] = A[59 - i, :] + 1
                time.sleep(0.002)
            A, B = B, A
            done += 1""",
        "bool((A == A[0]).all() and (B[:i] == B[0]).all() and A[0, 0] - done in (0, 1))",
    ),
    "checkpoints of rows changed in place": (
        "A, total = np.zeros((60, 50)), 0.0",
        """# dlb: iterate, checkpoint=10
        for t in range(1000000):
            # dlb: parallel
            for i in range(60):
                A[i, :] = A[i, :] + 1
                total += A[i, 0]
                time.sleep(0.001)
            i, done = 0, done + 1
            if t % 4 == 0 and A[t % 60, 3] != done:
                raise AssertionError(A[t % 60, 3])""",
        "are_done(A[:, 0], i, done)",
    ),
    "checkpoints of compiled loops": (
        "A = np.zeros((200, 2000))",
        """# dlb: iterate, checkpoint=5
        for t in range(1000000):
            # dlb: parallel, jit
            for i in range(200):
                for k in range(2000):
                    A[i, k] = A[i, k] + 1.0
            i, done = 0, done + 1""",
        "are_done(A[:, 0], i, done) and bool((A == A[:, :1]).all())",
    ),
}
#: Where signals go, and how often each is drawn.
_SIGNALS = {
    ("dlbc run", signal.SIGINT): 8,
    ("rank 0", signal.SIGINT): 3,
    ("mpiexec", signal.SIGINT): 1,
    ("dlbc run", signal.SIGTERM): 2,
    ("dlbc run", signal.SIGHUP): 2,
}
#: A signal comes so many seconds after the last death at most (in a third of the runs each), a death so many
#: after the program has begun.
_SOON_S, _WITHIN_S = (0.02, 0.1, 0.3), 1.0


@dataclass
class Kill:
    """A rank that was killed, in seconds from the start of the launcher."""

    rank: int
    at_s: float


@dataclass
class Sent:
    """A signal, ``after_s`` the last death; ``at_s`` seconds from the start of the launcher.

    ``late``: a rank that is killed after it, and so many seconds after it.
    """

    target: str
    number: int
    after_s: float
    at_s: float = -1.0
    late: tuple[int, float] | None = None


@dataclass
class Run:
    """One run: its settings by a seed, what was killed, and what is wrong with its end (empty: nothing)."""

    seed: int
    program: str
    strategy: str
    kills: list[Kill] = field(default_factory=list)
    elapsed_s: float = 0.0
    undisturbed_s: float = 0.0
    stopped_s: float = 0.0  # for which the run's processes or this one had been stopped, or starved
    sent: Sent | None = None
    wrong: str = ""


class Campaign:
    """Runs of the ``programs`` in the directory ``home``."""

    def __init__(self, home: Path, *, mpich: bool, programs: Mapping[str, str] = EVERY) -> None:
        self._home, self._mpich, self._programs = home, mpich, programs
        self._temporary = home / "temporary"
        self._temporary.mkdir()
        self._expected: dict[str, tuple[int, bytes]] = {}
        self._took_s: dict[str, float] = {}

    def run(self, seed: int, most: int) -> Run:
        """The run of a seed, in which at most ``most`` ranks are killed."""
        draw = random.Random(seed)
        program, strategy = draw.choice(list(self._programs)), draw.choice(_STRATEGIES)
        if program not in self._took_s:
            self._prepare(program)
        made = Run(seed, program, strategy, undisturbed_s=self._took_s[program])
        count = 1 if self._mpich else min(most, draw.choice((1, 2, 3, 3)))
        moments = sorted(draw.uniform(0, self._took_s[program]) for _ in range(count))
        if count > 1 and draw.random() < 0.3:
            moments = [moments[0]] * count  # at once
        ranks = draw.sample(range(1, RANKS), count)
        self._carry_out(made, list(zip(moments, ranks, strict=True)))
        return made

    def run_until_signalled(self, seed: int) -> Run:
        """The run of a seed that goes on until a signal comes, just after ranks have been killed."""
        draw = random.Random(seed)
        program, strategy = draw.choice(list(INTERRUPTED)), draw.choice(_STRATEGIES)
        variables, loops, right = INTERRUPTED[program]
        text = _UNTIL_INTERRUPTED.format(variables=variables, loops=loops, right=right)
        self._path(program).write_text(text)
        target, number = draw.choices(list(_SIGNALS), list(_SIGNALS.values()))[0]
        soon_s = draw.choice(_SOON_S)
        made = Run(seed, program, strategy)
        made.sent = Sent(target, int(number), draw.uniform(0, soon_s))
        from_begin = target != "dlbc run" or draw.random() < 0.8
        moment = draw.uniform(0, _WITHIN_S)
        between_s = draw.choice((0.0, 0.0, draw.uniform(0, 0.1)))
        killed = draw.sample(range(1, RANKS), draw.choice((1, 1, 2, 3)))
        planned = [(moment + between_s * place, rank) for place, rank in enumerate(killed)]
        if len(killed) > 1 and draw.random() < 0.5:
            made.sent.late = planned.pop()[1], draw.uniform(0, soon_s)
        self._carry_out(made, planned, from_begin=from_begin)
        return made

    def _prepare(self, program: str) -> None:
        path = self._path(program)
        path.write_text(_WORK + self._programs[program])
        # In plain Python those that are compiled would take minutes.
        alone = ["-m", "dlbc", "run", "-n", "1"] if "jit" in self._programs[program] else []
        command = [sys.executable, *alone, path.name]
        done = subprocess.run(command, cwd=self._home, capture_output=True, check=False)
        self._expected[program] = done.returncode, done.stdout
        self._took_s[program] = self._undisturbed(program)

    def _undisturbed(self, program: str) -> float:
        """The seconds of a run without kills; SystemExit if its result is wrong."""
        made = Run(-1, program, "auto")
        self._carry_out(made, [])
        if made.wrong:
            raise SystemExit(f"{program}, without kills: {made.wrong}")
        return made.elapsed_s

    def _path(self, program: str) -> Path:
        return self._home / f"{program.replace(' ', '_')}.py"

    def _carry_out(self, made: Run, planned: list[tuple[float, int]], *, from_begin: bool = False) -> None:
        """Carry out a run with deaths as ``planned``, from its start or ``from_begin`` of the program on."""
        token = uuid.uuid4().hex
        command, settings = self._command(made)
        environment = os.environ | {processes.TOKEN: token, "PYTHONHASHSEED": "1", "PYTHONFAULTHANDLER": "1"}
        environment |= {"TMPDIR": str(self._temporary)} | settings
        before = segments()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            start = time.monotonic()
            process = subprocess.Popen(
                command, cwd=self._home, env=environment,
                stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
            )  # fmt: skip
            moments = _Moments(process, token, start, made, planned)
            status = moments.wait(lambda: not from_begin or os.fstat(out.fileno()).st_size > 0)
            made.elapsed_s = time.monotonic() - start
            left = [str(each) for each in processes.end_all(token, patience=2.0)]
            out.seek(0)
            err.seek(0)
            said = err.read().decode(errors="replace")
            if self._mpich and made.kills:
                left += sorted(map(str, _abandoned(before)))
            elif made.sent is not None:
                left += self._files(moments.mapped)
            judge = self._judge if made.sent is None else self._judge_signalled
            made.wrong = judge(made, status, out.read(), said, left)

    def _command(self, made: Run) -> tuple[list[str], dict[str, str]]:
        """The command of a run, and variables for it."""
        path = self._path(made.program)
        if made.sent is not None and made.sent.target == "mpiexec":
            generated = transform(path, self._home)
            start = [*find_mpiexec(), "--with-ft", "ulfm", "-n", str(RANKS)]
            settings = {"DLB_FAULT_TOLERANT": "1", "MPI4PY_RC_FINALIZE": "0", "DLB_STRATEGY": made.strategy}
            return [*start, sys.executable, generated.name], settings
        tolerant = [] if self._mpich else ["--fault-tolerant"]
        strategy = [] if made.strategy == "auto" else ["--strategy", made.strategy]
        return [sys.executable, "-m", "dlbc", "run", "-n", str(RANKS), *tolerant, *strategy, path.name], {}

    def _files(self, mapped: set[str]) -> list[str]:
        """The files that a run has left: temporary ones, and of shared memory that ranks had ``mapped``."""
        found = [*map(str, self._temporary.rglob("*")), *(name for name in mapped if Path(name).exists())]
        shutil.rmtree(self._temporary)
        self._temporary.mkdir()
        return found

    def _judge(self, made: Run, status: int | None, out: bytes, said: str, left: list[str]) -> str:
        """What is wrong with the end of a run."""
        if status is None:
            return f"no end, {len(out)} bytes of output; {said[-4000:]}"
        if self._mpich and made.kills:
            late_s = made.elapsed_s - made.kills[-1].at_s
            if (status, out) == self._expected[made.program] and late_s < 0.5:
                return ""  # it was about to end
            if status == 0 or late_s > _CLEAR_S or left or len(_CLEAR.findall(said)) != 1:
                return f"status {status} after {late_s:.1f} s, left behind: {left}; {said[-4000:]}"
            return ""
        if (status, out) != self._expected[made.program]:
            same = "the same" if out == self._expected[made.program][1] else f"another ({len(out)} bytes)"
            return f"status {status}, {same} output; {said[-4000:]}"
        return f"left behind: {left}" if left else ""

    def _judge_signalled(self, made: Run, status: int | None, out: bytes, said: str, left: list[str]) -> str:
        """The same of a run that a signal has ended."""
        sent, told = made.sent, f"{out!r}; {said[-4000:]}"
        assert sent is not None
        late_s = made.elapsed_s - sent.at_s
        if status is None or sent.at_s < 0 or late_s > _CLEAR_S + made.stopped_s or left:
            return f"status {status} after {late_s:.1f} s, left behind: {left}; {told}"
        if sent.target == "mpiexec":
            return "" if status else f"status {status}; {told}"
        if status != 128 + sent.number:
            return f"status {status}; {told}"
        if sent.number != signal.SIGINT or b"begins" not in out:
            return ""
        right = out == _INTERRUPTED and "KeyboardInterrupt" in said and "dlbrt" not in said
        return "" if right else told


class _Moments:
    """What happens to a run, and when: ranks are killed as ``planned``, then the signal of the run comes.

    ``mapped`` are the files of shared memory that ranks have had.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        token: str,
        start: float,
        made: Run,
        planned: list[tuple[float, int]],
    ) -> None:
        self._process, self._token, self._start, self._made = process, token, start, made
        self._planned = list(planned)
        self._disturbed_s = 0.0  # when a rank was killed last
        self.mapped: set[str] = set()

    def wait(self, begins: Callable[[], bool]) -> int | None:
        """The status of the run, None where it hangs; moments count from when it ``begins``."""
        process, start, made = self._process, self._start, self._made
        until, began_s, delays = start + _HANGS_S, None, _Delays(self._token)
        looked = last = start
        while process.poll() is None and last < until:
            now = time.monotonic() - start
            if (paused_s := now + start - last) > _LOOK_S:  # this process was stopped itself
                until += paused_s
                made.stopped_s += paused_s
            last = now + start
            if now + start > looked + _LOOK_S:
                if delays.look(now + start - looked):
                    until += now + start - looked
                    made.stopped_s += now + start - looked
                looked = now + start
            if began_s is None and begins():
                began_s = now
            if began_s is not None:
                self._disturb(now, began_s)
            time.sleep(0.002)
        status = process.poll()
        if status is None:
            processes.print_stacks(self._token, process.pid)
            process.kill()
            process.wait()
        return status

    def _disturb(self, now: float, began_s: float) -> None:
        """Do what is due ``now``."""
        made, sent = self._made, self._made.sent
        if self._planned:
            moment, rank = self._planned[0]
            if now < began_s + moment:
                return
            pid = _ranks(self._token).get(rank)
            if pid is None and now < moment + 2 and len(made.kills) == 0 and now < 4:
                time.sleep(0.01)  # the rank has not been started yet
                return
            if pid is not None:
                if sent is not None:
                    self.mapped |= _mapped(pid)
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    made.kills.append(Kill(rank, now))
            self._disturbed_s = now
            del self._planned[0]
        elif sent is not None and sent.at_s < 0 and now >= self._disturbed_s + sent.after_s:
            pid = self._target(sent.target)
            if pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(pid, sent.number)
                    sent.at_s = time.monotonic() - self._start
                if sent.late is not None:
                    rank, after_s = sent.late
                    self._planned = [(now - began_s + after_s, rank)]

    def _target(self, name: str) -> int | None:
        if name == "rank 0":
            return _ranks(self._token).get(0)
        return self._process.pid


def _abandoned(before: AbstractSet[Path]) -> set[Path]:
    """The segments that are new and that nobody uses; what other jobs that end now still remove is not."""
    if found := unused(segments() - before):
        time.sleep(_OTHERS_S)
        found &= unused(segments())
    return found


def _mapped(pid: int) -> set[str]:
    """The files of shared memory that a process has."""
    try:
        return set(re.findall(r"/dev/shm/\S+", Path(f"/proc/{pid}/maps").read_text()))
    except OSError:
        return set()


def _ranks(token: str) -> dict[int, int]:
    """The processes of a run that are ranks, by rank."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                runs = b"dlbrt.script" in words or words[1].endswith(b"_dlb.py")
                if not runs or b"mpiexec" in words[0] or b"prterun" in words[0]:
                    continue
                variables = (entry / "environ").read_bytes().split(b"\0")
                if f"{processes.TOKEN}={token}".encode() in variables:
                    values = dict(each.partition(b"=")[::2] for each in variables)
                    rank = values.get(b"OMPI_COMM_WORLD_RANK", values.get(b"PMI_RANK"))
                    if rank is not None:
                        found[int(rank)] = int(entry.name)
    return found


class _Delays:
    """Looks whether somebody else keeps a run from running: one of its processes is stopped, or starves."""

    def __init__(self, token: str) -> None:
        self._token = token
        self._queued_ns: dict[int, int] = {}  # how long each process has been ready to run, and has not

    def look(self, since_s: float) -> bool:
        """Whether it was kept from running for the seconds since the last look."""
        before, self._queued_ns, stopped = self._queued_ns, {}, False
        for pid in (member.pid for member in processes.members(self._token)):
            with suppress(OSError, IndexError):
                self._queued_ns[pid] = int(Path(f"/proc/{pid}/schedstat").read_text().split()[1])
                stopped |= Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
        queued_ns = [now - before[pid] for pid, now in self._queued_ns.items() if pid in before]
        return stopped or max(queued_ns, default=0) > _STARVED * since_s * 1e9


def recorded(path: str | None) -> list[Run]:
    """The runs of a record; none where there is no such file."""
    if path is None or not Path(path).exists():
        return []
    runs = [Run(**each) for each in json.loads(Path(path).read_text())]
    for run in runs:
        run.kills = [Kill(**each) for each in run.kills]  # type: ignore[arg-type]
        if run.sent is not None:
            run.sent = Sent(**run.sent)  # type: ignore[arg-type]
            run.sent.late = run.sent.late and tuple(run.sent.late)  # type: ignore[assignment]
    return runs


def _runs(campaign: Campaign, kills: int, seed: int, *, signalled: bool) -> Iterator[Run]:
    """Runs until so many ranks have been killed."""
    while kills > 0:
        made = campaign.run_until_signalled(seed) if signalled else campaign.run(seed, kills)
        kills -= len(made.kills)
        seed += 1
        yield made


def _plot(runs: list[Run], path: str) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "dlb"
    figure, axes = pyplot.subplots(figsize=(7, 4))
    for number, program in enumerate(p for p in EVERY if any(run.program == p for run in runs)):
        for deaths, face in (((1,), f"C{number}"), ((2, 3), "none")):
            own = [r for r in runs if r.program == program and len(r.kills) in deaths and not r.stopped_s]
            at = [run.kills[-1].at_s / run.undisturbed_s for run in own]
            lost = [run.elapsed_s - run.undisturbed_s for run in own]
            axes.scatter(at, lost, s=14, facecolors=face, edgecolors=f"C{number}", linewidths=0.8)
        axes.scatter([], [], s=14, color=f"C{number}", label=program)
    axes.set_xlabel("moment of the last death, as part of an undisturbed run (filled: the only one)")
    axes.set_ylabel("seconds lost")
    axes.set_yscale("symlog", linthresh=10)
    axes.legend(fontsize=7, loc="lower right")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> int:
    """The command; its exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("kills", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mpich", action="store_true")
    parser.add_argument("--checkpoints", action="store_true", help="only programs with checkpoints")
    parser.add_argument("--signals", action="store_true", help="a signal soon after the deaths ends each run")
    parser.add_argument("--record")
    parser.add_argument("--plot")
    options = parser.parse_args()
    processes.heed_signals()
    runs = recorded(options.record)
    first = runs[-1].seed + 1 if runs else options.seed
    left = options.kills - sum(len(run.kills) for run in runs)
    with tempfile.TemporaryDirectory() as home:
        programs = CHECKPOINTED if options.checkpoints else EVERY
        campaign = Campaign(Path(home), mpich=options.mpich, programs=programs)
        for made in _runs(campaign, left, first, signalled=options.signals):
            runs.append(made)
            if made.wrong:
                print(f"seed {made.seed}: {made}", flush=True)
            if options.record:
                Path(options.record).write_text(json.dumps([asdict(each) for each in runs], indent=1))
    if options.plot:
        _plot(runs, options.plot)
    wrong = [run for run in runs if run.wrong]
    kills = sum(len(run.kills) for run in runs)
    print(f"{kills} kills in {len(runs)} runs: {len(runs) - len(wrong)} right results, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
