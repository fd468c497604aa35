"""What iterations print appears while the loop runs, in their order; in the end it is what it always was.

That it appears early is shown without a clock: an iteration waits for a file, which the test makes once it
has read an earlier line.
"""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support import processes
from tests.support.mpi import Completed, find_mpiexec, run_mpi, run_sequential, transform
from tests.support.settings import RANDOM_LOAD
from tests.support.tier import is_full, part

pytestmark = pytest.mark.mpi

PRINTED = Path(__file__).resolve().parent / "programs" / "printed_lines.py"
STRATEGIES = ("none", "GDDLB", "SS", "steal", "diffusion")


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Completed]:
    """The program that prints, transformed, and its sequential run."""
    home = tmp_path_factory.mktemp("printed")
    return transform(PRINTED, home), run_sequential([sys.executable, str(PRINTED)])


@pytest.mark.parametrize("strategy", part(STRATEGIES, 2))
@pytest.mark.parametrize("ranks", [2, 3, 5] if is_full() else [3])
def test_it_is_byte_for_byte_that_of_the_sequential_program(
    printed: tuple[Path, Completed], ranks: int, strategy: str
) -> None:
    program, sequential = printed
    done = run_mpi(
        ranks,
        [sys.executable, str(program)],
        env={"DLB_STRATEGY": strategy} | {"DLB_LOAD": RANDOM_LOAD["DLB_LOAD"]},
    )
    assert done.stdout == sequential.stdout, done.stderr
    assert done.status == sequential.status, done.stderr


PROGRAM = """\
import os
import sys
import time
import numpy as np

def read(line):
    "Wait until the line has been read."
    until = time.monotonic() + 20
    while not os.path.exists(f"{sys.argv[1]}/{line}"):
        if time.monotonic() > until:
            raise TimeoutError(f"{line} has not appeared")
        time.sleep(1e-3)

def work(n):
    A = np.zeros(n)
    # dlb: parallel, DISTRIBUTION
    for i in range(n):
        time.sleep(5e-3)  # long enough that the rank looks for messages after it
        if WAITS:
            read(EARLIER)
        A[i] = i
        if PRINTS:
            print(i, flush=True)
    return A

print("sum", work(12).sum(), flush=True)
"""


@contextmanager
def started(
    program: Path, ranks: int, env: dict[str, str], *arguments: str
) -> Iterator[subprocess.Popen[bytes]]:
    """The program on ranks, its standard output a pipe; all of its processes end with the block."""
    token = uuid.uuid4().hex
    command = [*find_mpiexec(), "-n", str(ranks), sys.executable, str(program), *arguments]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("DLB_")}
    with (program.parent / "errors").open("wb") as errors:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, env=inherited | {processes.TOKEN: token} | env
        )
    try:
        yield process
    finally:
        processes.end_all(token)
        process.communicate()


CASES = [
    pytest.param("none", "i > 0", "i - 1", "True", "BLOCK", {}, id="every line, rank 0 has the first ones"),
    pytest.param(
        "none", "i > 0", "i - 1", "True", "BLOCK", {"DLB_WEIGHTS": "0,1,1"}, id="every line, rank 0 has none"
    ),
    pytest.param(
        "none", "i == 11", "5", "i % 3 == 2", "CYCLIC", {}, id="between iterations that print nothing"
    ),
    *(
        pytest.param(strategy, "i == 11", "0", "True", "BLOCK", {}, id=strategy)
        for strategy in ("GDDLB", "LCDLB", "steal", "diffusion")
    ),
]


@pytest.mark.parametrize(("strategy", "waits", "earlier", "prints", "distribution", "env"), part(CASES, 3))
def test_a_line_appears_before_later_iterations_are_done(
    tmp_path: Path,
    strategy: str,
    waits: str,
    earlier: str,
    prints: str,
    distribution: str,
    env: dict[str, str],
) -> None:
    text = PROGRAM.replace("WAITS", waits).replace("EARLIER", earlier).replace("PRINTS", prints)
    lines = read_and_told(
        text.replace("DISTRIBUTION", distribution), env | {"DLB_STRATEGY": strategy}, tmp_path
    )
    expected = [str(i) for i in range(12) if eval(prints, {"i": i})]
    assert lines == [*expected, "sum 66.0"], (tmp_path / "errors").read_text()


def read_and_told(text: str, env: dict[str, str], home: Path) -> list[str]:
    """The lines of a program that has been told of each once it was read."""
    source, lines = home / "program.py", list[str]()
    source.write_text(text)
    with started(transform(source, home), 3, env | {"DLB_TRUST": "1"}, str(home)) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.decode().strip())
            (home / lines[-1].replace("/", "")).touch()
    return lines


@pytest.mark.parametrize("strategy", ["none", "steal"])
def test_so_it_does_in_loops_that_contribute(strategy: str, tmp_path: Path) -> None:
    text = PROGRAM.replace("WAITS", "i == 11").replace("EARLIER", "0").replace("PRINTS", "True")
    text = text.replace("DISTRIBUTION", "BLOCK").replace(
        "A = np.zeros(n)", "A, total, items = np.zeros(n), 3, []"
    )
    text = text.replace(
        "        A[i] = i\n", "        A[i] = i\n        items.append(i)\n        total += 0.1 * i\n"
    )
    text = text.replace("return A", "print(total, items)\n    return A")
    lines = read_and_told(text, {"DLB_STRATEGY": strategy}, tmp_path)
    total = 3.0
    for i in range(12):
        total += 0.1 * i
    expected = [*map(str, range(12)), f"{total} {[*range(12)]}", "sum 66.0"]
    assert lines == expected, (tmp_path / "errors").read_text()


FULL = """\
import os
import sys
import numpy as np

def work(n):
    A = np.zeros(n)
    # dlb: parallel, BLOCK
    for i in range(n):
        A[i] = i
        print(i, flush=i == 5)

kept = os.dup(1)
os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
try:
    work(12)
except OSError as error:
    os.dup2(kept, 1)
    print("failed:", error.errno)
"""


def test_a_line_that_cannot_be_written_is_the_failure_of_its_iteration(tmp_path: Path) -> None:
    source = tmp_path / "program.py"
    source.write_text(FULL)
    buffered = {"PYTHONUNBUFFERED": ""}
    sequential = run_sequential([sys.executable, str(source)], env=buffered)
    assert sequential.stdout.splitlines()[-2:] == [b"5", b"failed: 28"], sequential.stderr
    for ranks in (2, 3):
        command = [sys.executable, str(transform(source, tmp_path))]
        done = run_mpi(ranks, command, env=buffered | {"DLB_STRATEGY": "none"})
        assert (done.stdout, done.status) == (sequential.stdout, sequential.status), done.stderr


def test_what_contributed_before_such_a_line_is_named(tmp_path: Path) -> None:
    source = tmp_path / "program.py"
    text = FULL.replace("A[i] = i\n", "A[i] = i\n        total += 0.5\n").replace(
        "A = np.zeros(n)", "A, total = np.zeros(n), 0.0"
    )
    source.write_text(text.replace("except OSError", "except ZeroDivisionError"))
    done = run_mpi(3, [sys.executable, str(transform(source, tmp_path))], env={"DLB_STRATEGY": "none"})
    assert done.status == 1
    assert "what its iteration contributed before it wrote is left out: total" in done.stderr
