"""Shows that the tests catch planted bugs: ``python -m tests.mutants``.

Each bug of `tests/planted_bugs.py` is planted alone in a copy of the tree, and pytest runs there until the
first failure: first the files of tests that are likeliest to catch it, then all tests (``--full``). At
the end the tests that have caught bugs run once in the copy without any; so what they caught is the bug. A
run that does not end in time catches nothing.

The exit status is 1 if a bug was not caught.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue

from tests.planted_bugs import PLANTED_BUGS, PlantedBug

__all__ = ["ROOT", "likeliest_tests", "main"]

ROOT = Path(__file__).resolve().parent.parent

#: Tests of this script and of its table: they would see each bug in the text.
_OWN_TEST = "tests/test_mutants.py"

_LEFT_OUT = shutil.ignore_patterns(".[!c]*", "__pycache__", "*.egg-info", "shared")
_FAILED = re.compile(r"^(tests/\S+\.py::.*?) (?:FAILED|ERROR)\b", re.MULTILINE)
_BROKEN_FILE = re.compile(r"^ERROR (tests/\S+\.py)", re.MULTILINE)

#: Run in a copy: where the packages come from, also in a program that a server of forks starts.
_ORIGINS = "import dlbc, dlbrt, tests; print(*(m.__path__[0] for m in (dlbc, dlbrt, tests)), sep=chr(10))"
_FORKED_ORIGINS = """
import sys
from tests.support.mpi import run_sequential
print(run_sequential([sys.executable, sys.argv[1]]).stdout.decode(), end="")
"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one bug: ``caught_by`` is a test, or nothing; ``remark`` says why it is nothing."""

    name: str
    room: str
    caught_by: str
    seconds: float
    remark: str = ""


def likeliest_tests(bug: PlantedBug) -> list[str]:
    """The files of tests that are likeliest to catch a bug: its own, then those of its room."""
    package, room = bug.room.split("/")[:2]
    mirror = ROOT / "tests" / package
    of_room = [mirror / f"test_{room}.py", *sorted((mirror / room).rglob("test_*.py"))]
    files = [*(ROOT / "tests" / file for file in bug.likeliest), *filter(Path.exists, of_room)]
    return [str(file.relative_to(ROOT)) for file in dict.fromkeys(files)]


class Copy:
    """A copy of the tree in a folder, in which bugs are planted one after the other."""

    def __init__(self, place: Path) -> None:
        self.place = place
        shutil.copytree(ROOT, place, ignore=_LEFT_OUT)
        path = os.pathsep.join((str(place), str(place / "runtime")))
        self._environ = os.environ | {"PYTHONPATH": path}
        self._changes = 0

    def check(self) -> None:
        """Makes sure that it is the copy that is imported; RuntimeError if it is not."""
        program = self.place / "origins.py"
        program.write_text(_ORIGINS)
        for arguments in (["-c", _ORIGINS], ["-c", _FORKED_ORIGINS, str(program)]):
            found = subprocess.run(
                [sys.executable, *arguments],
                cwd=self.place, env=self._environ, capture_output=True, text=True, timeout=120, check=True,
            ).stdout.splitlines()  # fmt: skip
            if len(found) != 3 or any(not Path(each).is_relative_to(self.place) for each in found):
                raise RuntimeError(f"expected the packages of {self.place} to be imported, found {found}")
        program.unlink()

    @contextmanager
    def planted(self, bug: PlantedBug) -> Iterator[None]:
        """The bug is in the copy within the block."""
        file = self.place / bug.file
        before = file.read_text()
        try:
            self._write(file, bug.planted(before))
            yield
        finally:
            self._write(file, before)

    def _write(self, file: Path, text: str) -> None:
        """Writes a file so that what was compiled of it is known to be old, however soon after."""
        file.write_text(text)
        self._changes += 1
        stamp = time.time() + 2 * self._changes
        os.utime(file, (stamp, stamp))

    def first_failure(self, arguments: Sequence[str], limit_s: float) -> str | None:
        """The first test that fails of those that pytest is given; None if all pass.

        TimeoutError if that takes too long, RuntimeError if pytest does not run.
        """
        command = [sys.executable, "-m", "pytest", "-x", "-v", "-n", "0", "-p", "no:cacheprovider",
                   "--tb=no", f"--ignore={_OWN_TEST}", *arguments]  # fmt: skip
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(
                command, cwd=self.place, env=self._environ, stdin=subprocess.DEVNULL,
                stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            status = _end_of(process, limit_s)
            output.seek(0)
            said = output.read()
        found = _FAILED.search(said) or _BROKEN_FILE.search(said)
        if (status != 0) != (found is not None):
            raise RuntimeError(f"pytest ended with status {status}\n{said[-3000:]}")
        return None if found is None else found[1]


def _end_of(process: subprocess.Popen[bytes], limit_s: float) -> int:
    """The exit status; a process that does not end in time is ended as by ^C, so that it ends its own."""
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        raise TimeoutError(f"no end after {limit_s:.0f} s") from None


def _judge(copy: Copy, bug: PlantedBug, limit_s: float, likeliest_only: bool) -> Verdict:
    """Plants a bug and runs tests until one fails."""
    start, likeliest = time.monotonic(), likeliest_tests(bug)
    caught_by, remark = None, ""
    try:
        with copy.planted(bug):
            if likeliest:
                caught_by = copy.first_failure(likeliest, limit_s)
            if caught_by is None and not likeliest_only:
                caught_by = copy.first_failure(["tests", "--full"], limit_s)
    except (ValueError, RuntimeError, TimeoutError) as error:
        remark = str(error)
    return Verdict(bug.name, bug.room, caught_by or "", round(time.monotonic() - start, 1), remark)


def _judge_all(
    copies: Sequence[Copy], bugs: Sequence[PlantedBug], arguments: argparse.Namespace
) -> list[Verdict]:
    """The verdicts in the order of the table; each is printed when it is known."""
    free: SimpleQueue[Copy] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def judge(bug: PlantedBug) -> Verdict:
        copy = free.get()
        try:
            verdict = _judge(copy, bug, arguments.time_limit, arguments.likeliest_only)
        finally:
            free.put(copy)
        print(_line(verdict), flush=True)
        return verdict

    with ThreadPoolExecutor(len(copies)) as pool:
        return list(pool.map(judge, bugs))


def _line(verdict: Verdict) -> str:
    caught = verdict.caught_by or f"NOT CAUGHT {verdict.remark}".rstrip()
    return f"{verdict.name:58} {verdict.room:18} {verdict.seconds:6.1f} s  {caught}"


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants", description="Plant bugs; which test catches each?"
    )
    parser.add_argument(
        "--only", action="append", metavar="TEXT", help="bugs with this in name or file; repeatable"
    )
    parser.add_argument("--jobs", type=int, default=2, help="bugs at a time, each in a copy of its own")
    parser.add_argument(
        "--likeliest-only", action="store_true", help="run only the files that are likeliest to catch each"
    )
    parser.add_argument("--time-limit", type=float, default=3600, help="seconds for each run of pytest")
    parser.add_argument("--json", type=Path, help="write the verdicts there")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Judges the bugs asked for; the exit status."""
    arguments = _arguments(given)
    wanted = arguments.only or [""]
    bugs = [bug for bug in PLANTED_BUGS if any(text in bug.name or text in bug.file for text in wanted)]
    if not bugs:
        print(f"no bug has any of {wanted} in its name or file", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="mutants") as folder:
        copies = [
            Copy(Path(folder).resolve() / str(number)) for number in range(min(arguments.jobs, len(bugs)))
        ]
        for copy in copies:
            copy.check()
        verdicts = _judge_all(copies, bugs, arguments)
        caught_by = sorted({verdict.caught_by for verdict in verdicts} - {""})
        unsound = copies[0].first_failure(caught_by, arguments.time_limit) if caught_by else None
    if unsound is not None:
        print(f"{unsound} fails without any bug, so what it caught is not judged", file=sys.stderr)
    missed = [v for v in verdicts if not v.caught_by or v.caught_by == unsound]
    print(f"{len(verdicts) - len(missed)} of {len(verdicts)} bugs caught")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps([asdict(verdict) for verdict in verdicts], indent=1) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
