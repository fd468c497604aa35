"""How programs end: status, traceback in terms of the source, no rank left; on bad options, at once."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.mpi import Completed, find_mpiexec, run_mpi, run_sequential, starting, transform

pytestmark = pytest.mark.mpi

LOOP = """\
import atexit, os, sys, time
import numpy as np

def value(i):
    {value}
    return i

def work(n):
    A = np.zeros(n)
    # dlb: parallel, BLOCK
    for i in range(n):
        A[i] = value(i)
    return A

print("begins", flush=True)
{before}
print(work(24).sum(), flush=True)
{after}
"""


def both(
    home: Path,
    *,
    ranks: int = 3,
    value: str = "pass",
    before: str = "",
    after: str = "",
    strategy: str = "GDDLB",
) -> tuple[Completed, Completed]:
    """The program run sequentially and on ranks, as the path relative to a directory that it may leave."""
    source = home / "program.py"
    source.write_text(LOOP.format(value=value, before=before, after=after))
    generated = transform(source, home)
    sequential = run_sequential([sys.executable, source.name], cwd=home)
    env = {"DLB_STRATEGY": strategy}
    return sequential, run_mpi(ranks, [sys.executable, generated.name], env=env, cwd=home)


NOTE = re.compile(r"in iteration \S+ of the loop at \S+, on rank \d+ of \d+")


def places(stderr: str) -> list[str]:
    """The lines of tracebacks and of the message, without our note and with files by their last part."""
    found = [line for line in stderr.splitlines() if line and not NOTE.fullmatch(line)]
    return [re.sub(r'File ".*?([^/"]+)"', r'File "\1"', line) for line in found]


@pytest.mark.parametrize(
    "case",
    [
        {"after": "sys.exit('in words')"},
        {"before": "raise KeyError('before any loop')"},
        {"after": "{}['missing']"},
        {"value": "if i == 20: sys.exit(9)"},
        {"value": "if i == 20: print(vale)"},
        {"before": "count = 3", "after": "print(coun)"},
        {"value": "if i == 20: raise SystemExit('from the body')"},
        {"value": "if i in (2, 20): raise LookupError(f'at {i}')"},
        {"before": "os.chdir('/')", "value": "if i == 20: {}[i]"},
        {"value": "try: {}[i]\n    except KeyError as e:\n        if i > 19: raise ValueError('x') from e"},
        {"after": "try:\n    sys.exit(4)\nfinally:\n    print(work(5).sum(), flush=True)"},
        {"before": "atexit.register(lambda: print('at exit', work(7).sum(), flush=True))"},
        {"after": "import threading\nt = threading.Thread(target=lambda: print(work(9).sum()))\nt.start()"},
    ],
    ids=lambda case: "; ".join(case.values()),
)
def test_output_status_and_traceback_are_those_of_the_source(tmp_path: Path, case: dict[str, str]) -> None:
    sequential, parallel = both(tmp_path, **case)
    assert parallel.stdout.decode() == sequential.stdout.decode(), parallel.stderr
    assert parallel.status == sequential.status, parallel.stderr
    assert places(parallel.stderr) == places(sequential.stderr)


@pytest.mark.parametrize(
    "lines",
    [
        ["A[i] = 1 + value(", "            i) * 2 + check(i)"],
        ["A[i] = (1 +", "    check(i)  # é", ")"],
        ["é = 'é' + str(check(i)); A[i] = len(é)"],
        ["A[i] = sum(check(k) for k in range(i))"],
        ["A[i] = [check(i) for _ in 'üü'][0]"],
        ["if i > 2:", "    with open(os.devnull) as f:", "        A[i] = check(i) + len(f.read())"],
    ],
    ids="; ".join,
)
def test_the_expression_that_failed_is_marked_as_python_marks_it(tmp_path: Path, lines: list[str]) -> None:
    before = "def check(i):\n    return 7 // (i - 20) and i"
    source = tmp_path / "program.py"
    program = LOOP.format(value="pass", before=before, after="").replace(
        "A[i] = value(i)", "\n        ".join(lines)
    )
    source.write_text(program)
    generated = transform(source, tmp_path)
    sequential = run_sequential([sys.executable, source.name], cwd=tmp_path)
    for ranks in (1, 3):
        env = {"DLB_STRATEGY": "none"}
        parallel = run_mpi(ranks, [sys.executable, generated.name], env=env, cwd=tmp_path)
        assert "^" in parallel.stderr
        assert places(parallel.stderr) == places(sequential.stderr)
        assert bool(NOTE.search(parallel.stderr)) == (ranks > 1)


def test_an_exception_on_several_ranks_says_where_it_was_raised(tmp_path: Path) -> None:
    after = "try:\n    work(24)\nexcept LookupError as e:\n    print(str(e), e.args, vars(e))\n    raise"
    before = "def boom(i):\n    raise LookupError(f'at {i}')"
    value = "if i == 20: boom(i)"
    fields = {"value": "pass", "before": before, "after": after}
    source = tmp_path / "program.py"
    source.write_text(
        LOOP.format(**fields)
        .replace("A[i] = value(i)", f"{value}\n        A[i] = i")
        .replace("print(work(24).sum(), flush=True)\n", "")
    )
    generated = transform(source, tmp_path)
    done = run_mpi(3, [sys.executable, generated.name], env={"DLB_STRATEGY": "none"}, cwd=tmp_path)
    line = 1 + source.read_text().splitlines().index("    for i in range(n):")
    note = f"in iteration i=20 of the loop at program.py:{line}, on rank 2 of 3"
    assert done.stdout.decode().splitlines()[-1] == "at 20 ('at 20',) {}", done.stderr
    assert f"LookupError: at 20\n{note}\n" in done.stderr


@pytest.mark.parametrize("strategy", ["auto", "GSS"])
def test_a_program_that_leaves_without_ending_keeps_its_status(strategy: str, tmp_path: Path) -> None:
    with starting(forks=False):  # a fork that leaves so is not waited for by its launcher
        sequential, parallel = both(tmp_path, after="os._exit(6)", strategy=strategy)
    assert parallel.status == sequential.status == 6
    assert parallel.stdout.startswith(sequential.stdout)  # launchers may add a remark of their own


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("DLB_STRATEGY", "GDLB"),
        ("DLB_LOAD", "fixed:1"),
        ("DLB_SPEEDS", "1,2,3"),
        ("DLB_WEIGHTS", "1,x"),
        ("DLB_GROUP", "0"),
        ("DLB_STATS", "missing/stats.json"),
        ("DLB_STATS", "."),
    ],
)
def test_a_malformed_option_ends_it_before_it_begins(tmp_path: Path, name: str, text: str) -> None:
    source = tmp_path / "program.py"
    source.write_text(LOOP.format(value="pass", before="", after=""))
    generated = transform(source, tmp_path)
    done = run_mpi(2, [sys.executable, str(generated)], env={name: text}, cwd=tmp_path)
    assert (done.status, done.stdout) == (2, b""), done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert name in done.stderr


def test_ranks_of_other_versions_end_before_the_program_begins(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from mpi4py import MPI\nimport numpy, dlbrt\n"
        "numpy.__version__ += '.other' if MPI.COMM_WORLD.rank == 1 else ''\n"
        "dlb = dlbrt.start(MPI.COMM_WORLD)\nprint('begins')\n"
    )
    done = run_mpi(3, [sys.executable, str(program)])
    assert (done.status, done.stdout) == (2, b"")
    assert "numpy" in done.stderr
    assert "rank 1" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_rank_that_is_killed_ends_the_job(tmp_path: Path) -> None:
    with starting(forks=False):  # it is the launcher's own child that is killed
        sequential, parallel = both(tmp_path, value="os.kill(os.getpid(), 9 if i == 20 else 0)")
    assert sequential.status == -signal.SIGKILL
    assert parallel.status != 0
    assert parallel.stdout.startswith(b"begins\n")


def test_iterations_that_fail_one_after_the_other_contradict_no_plan(tmp_path: Path) -> None:
    source = Path(__file__).resolve().parent / "programs" / "hard_failures.py"
    env = {"DLB_STRATEGY": "steal", "DLB_LOAD": "random:max=3,duration=0.002,seed=5"}
    done = run_mpi(3, [sys.executable, str(transform(source, tmp_path))], timeout=300, env=env)
    assert done.stdout == run_sequential([sys.executable, str(source)]).stdout
    assert "rank 0 alone" not in done.stderr


@pytest.mark.parametrize("where", ["value", "before"])
def test_an_interrupt_ends_all_ranks(tmp_path: Path, where: str) -> None:
    source = tmp_path / "program.py"
    parts = {"value": "pass", "before": "", "after": ""} | {where: "time.sleep(60)"}
    source.write_text(LOOP.format(**parts))
    command = [*find_mpiexec(), "-n", "3", sys.executable, str(transform(source, tmp_path))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"begins\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) != 0
        process.stdout.read()  # ends when the last rank has let go of it
    finally:
        process.kill()
        process.stdout.close()


@pytest.mark.mpi
def test_under_dlbc_run_a_traceback_begins_in_the_program(tmp_path: Path) -> None:
    source = tmp_path / "boom.py"
    source.write_text("out = [0] * 9\n# dlb: parallel\nfor i in range(9):\n    out[i] = 1 // (i - 5)\n")
    command = [sys.executable, "-m", "dlbc", "run", "-n", "2", "--strategy", "none", str(source)]
    done = run_sequential(command)
    assert done.status == 1
    assert "runpy" not in done.stderr
    assert f'File "{source}", line 4, in <module>' in done.stderr


RAISING = """\
class Odd(Exception):
    def __init__(self, where, code):
        super().__init__(f"{{where}} {{code}}")
        self.where, self.code = where, code

class Held:
    def __init__(self, x):
        self.x = x
    {hook}

def boom(i, n):
    error = ValueError(i)
    for k in range(n):
        error, cause = ValueError(k), error
        error.__cause__ = cause
    raise error

def main(n):
    held, made, errors = Held(3), [None] * n, [None] * n
    # dlb: parallel
    for i in range(n):
        made[i] = Held(i + held.x)
        try:
            raise Odd("at", i)
        except Odd as error:
            errors[i] = error
    print([each.x for each in made], [(str(e), e.where, e.code, e.args) for e in errors])
    # dlb: parallel
    for i in range(n):
        made[i] = errors[i].code
        if i == n - 2:
            boom(i, {chain})

try:
    main(24)
except ValueError as error:
    print(type(error), error.args)
"""


@pytest.mark.parametrize(
    "hook",
    [
        "pass",
        "def __getstate__(self): raise RuntimeError('no state')",
        "def __getstate__(self): raise SystemExit(4)",
        "def __setstate__(self, state): raise RuntimeError('no state')",
        "def __setstate__(self, state): raise SystemExit(4)",
        "def __setstate__(self, state): raise KeyboardInterrupt",
        "def __reduce__(self): raise KeyboardInterrupt",
    ],
)
def test_hooks_of_pickling_that_raise_do_not_end_the_program(tmp_path: Path, hook: str) -> None:
    source = tmp_path / "program.py"
    source.write_text(RAISING.format(hook=hook, chain=20000 if hook == "pass" else 1))
    generated = transform(source, tmp_path)
    sequential = run_sequential([sys.executable, source.name], cwd=tmp_path)
    parallel = run_mpi(3, [sys.executable, generated.name], env={"DLB_STRATEGY": "GDDLB"}, cwd=tmp_path)
    assert (parallel.stdout, parallel.status) == (sequential.stdout, 0), parallel.stderr
