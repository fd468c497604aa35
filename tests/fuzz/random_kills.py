"""Kills ranks of running programs at random moments, and looks whether the results are right.

``python -m tests.fuzz.random_kills 500`` kills workers of programs on 4 ranks under ``dlbc run
--fault-tolerant`` until 500 have been killed, 1 to 3 in a run, at any moment from the start of the launcher
to the end. Each run has to end by itself, with the output and the status of the sequential program. With
``--mpich`` (in an environment with MPICH) each run loses one rank, has to end within 5 s of that with a
status other than 0 and one line that says so, and leaves no process and no segment of shared memory (so
nothing else may kill jobs of MPICH on the machine meanwhile).

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
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from dlbc.commands.segments import segments, unused
from tests.support import processes

RANKS = 4
#: A run that has not ended after so many seconds hangs.
_HANGS_S = 90.0
#: Seconds between two looks whether ranks have been stopped by a signal.
_LOOK_S = 1.0
#: Within which a job has to end that cannot go on, and what it says: by the process that watches its ranks,
#: or by `dlbc run` where there is none yet.
_CLEAR_S = 5.0
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
for r in range(4):
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
for t in range(16):
    # dlb: parallel, jit
    for i in range(200):
        for j in range(200):
            for k in range(200):
                Z[i, j] += X[i, k] * Y[k, j] * 1e-3
    # dlb: parallel, jit
    for i in range(200):
        for j in range(200):
            X[i, j] = Z[i, j] * 0.5
print(Z.tobytes().hex(), X.tobytes().hex())
""",
}

EVERY = PROGRAMS | CHECKPOINTED


@dataclass
class Kill:
    """A rank that was killed, in seconds from the start of the launcher."""

    rank: int
    at_s: float


@dataclass
class Run:
    """One run: its settings by a seed, what was killed, and what is wrong with its end (empty: nothing)."""

    seed: int
    program: str
    strategy: str
    kills: list[Kill] = field(default_factory=list)
    elapsed_s: float = 0.0
    undisturbed_s: float = 0.0
    stopped_s: float = 0.0  # for which somebody else had stopped the run's processes or this one
    wrong: str = ""


class Campaign:
    """Runs of the ``programs`` in the directory ``home``."""

    def __init__(self, home: Path, *, mpich: bool, programs: Mapping[str, str] = EVERY) -> None:
        self._home, self._mpich, self._programs = home, mpich, programs
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

    def _prepare(self, program: str) -> None:
        path = self._path(program)
        path.write_text(_WORK + self._programs[program])
        done = subprocess.run([sys.executable, path.name], cwd=self._home, capture_output=True, check=False)
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

    def _carry_out(self, made: Run, planned: list[tuple[float, int]]) -> None:
        token = uuid.uuid4().hex
        tolerant = [] if self._mpich else ["--fault-tolerant"]
        strategy = [] if made.strategy == "auto" else ["--strategy", made.strategy]
        command = [sys.executable, "-m", "dlbc", "run", "-n", str(RANKS), *tolerant, *strategy]
        environment = os.environ | {processes.TOKEN: token, "PYTHONHASHSEED": "1"}
        before = segments()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            start = time.monotonic()
            process = subprocess.Popen(
                [*command, self._path(made.program).name], cwd=self._home, env=environment,
                stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
            )  # fmt: skip
            status = self._kill_and_wait(process, token, start, made, planned)
            made.elapsed_s = time.monotonic() - start
            left = processes.end_all(token, patience=2.0)
            out.seek(0)
            err.seek(0)
            said = err.read().decode(errors="replace")
            made.wrong = self._judge(made, status, out.read(), said, bool(left))
            files = unused(segments() - before) if self._mpich and made.kills else set()
            if files and not made.wrong:
                made.wrong = f"left in memory: {sorted(map(str, files))}; {said[-4000:]}"

    def _kill_and_wait(
        self,
        process: subprocess.Popen[bytes],
        token: str,
        start: float,
        made: Run,
        planned: list[tuple[float, int]],
    ) -> int | None:
        """Kill ranks as planned; the status, None where the run hangs."""
        planned, until = list(planned), start + _HANGS_S
        looked = last = start
        while process.poll() is None and last < until:
            now = time.monotonic() - start
            if (paused_s := now + start - last) > _LOOK_S:  # this process was stopped itself
                until += paused_s
                made.stopped_s += paused_s
            last = now + start
            if now + start > looked + _LOOK_S:
                if _any_stopped(token):  # by somebody else
                    until += now + start - looked
                    made.stopped_s += now + start - looked
                looked = now + start
            if planned and now >= planned[0][0]:
                pid = _ranks(token).get(planned[0][1])
                if pid is None and now < planned[0][0] + 2 and len(made.kills) == 0 and now < 4:
                    time.sleep(0.01)  # the rank has not been started yet
                    continue
                if pid is not None:
                    with suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                        made.kills.append(Kill(planned[0][1], now))
                del planned[0]
            time.sleep(0.002)
        status = process.poll()
        if status is None:
            processes.print_stacks(token, process.pid)
            process.kill()
            process.wait()
        return status

    def _judge(self, made: Run, status: int | None, out: bytes, said: str, left: bool) -> str:
        """What is wrong with the end of a run."""
        if status is None:
            return f"no end; {said[-4000:]}"
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
        return "processes left behind" if left else ""


def _ranks(token: str) -> dict[int, int]:
    """The processes of a run that are ranks, by rank."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                words = (entry / "cmdline").read_bytes().split(b"\0")
                if b"dlbrt.script" not in words or b"mpiexec" in words[0] or b"prterun" in words[0]:
                    continue
                variables = (entry / "environ").read_bytes().split(b"\0")
                if f"{processes.TOKEN}={token}".encode() in variables:
                    values = dict(each.partition(b"=")[::2] for each in variables)
                    rank = values.get(b"OMPI_COMM_WORLD_RANK", values.get(b"PMI_RANK"))
                    if rank is not None:
                        found[int(rank)] = int(entry.name)
    return found


def _any_stopped(token: str) -> bool:
    """Whether a process of a run is stopped."""
    for member in processes.members(token):
        with suppress(OSError, IndexError):
            if Path(f"/proc/{member.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T":
                return True
    return False


def recorded(path: str | None) -> list[Run]:
    """The runs of a record; none where there is no such file."""
    if path is None or not Path(path).exists():
        return []
    runs = [Run(**each) for each in json.loads(Path(path).read_text())]
    for run in runs:
        run.kills = [Kill(**each) for each in run.kills]  # type: ignore[arg-type]
    return runs


def _runs(campaign: Campaign, kills: int, seed: int) -> Iterator[Run]:
    """Runs until so many ranks have been killed."""
    while kills > 0:
        made = campaign.run(seed, kills)
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
    parser.add_argument("--record")
    parser.add_argument("--plot")
    options = parser.parse_args()
    runs = recorded(options.record)
    first = runs[-1].seed + 1 if runs else options.seed
    left = options.kills - sum(len(run.kills) for run in runs)
    with tempfile.TemporaryDirectory() as home:
        programs = CHECKPOINTED if options.checkpoints else EVERY
        campaign = Campaign(Path(home), mpich=options.mpich, programs=programs)
        for made in _runs(campaign, left, first):
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
