"""One run of a program, bounded in time: what it printed, how it ended, what it left, or where it hangs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dlbrt.contract import ENVIRONMENT

from dlbc.commands.kept_programs import WholeProgram
from dlbc.commands.run import environment_of, launcher, shared_directory, write_plan
from dlbc.commands.verify.compare import Outcome

#: Seconds for ranks to write their stacks after the time is up, and to end by themselves when told to.
_STACKS_S = 5.0
_ENDING_S = 3.0


@dataclass(frozen=True, slots=True)
class VerifiedProgram:
    """The program, its arguments, and the files that it writes and that are to be compared."""

    program: WholeProgram
    arguments: Sequence[str] = ()
    files: Sequence[Path] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


def run_once(
    verified: VerifiedProgram, ranks: int, variables: Mapping[str, str], timeout_s: float, directory: Path
) -> Outcome:
    """Run the program in parallel, or sequentially where ``ranks`` is 0; it leaves its end in ``directory``.

    OSError if it cannot be started; CannotStartError if there is no mpiexec.
    """
    program = verified.program
    if not ranks:
        program = program._replace(generated=(), imports_by_name=False)
    start = launcher(max(1, ranks))
    own = {ENVIRONMENT["learned"]: str(directory / "learned.json"), ENVIRONMENT["summary"]: "0"}
    settings = dict(verified.environment) | own | dict(variables)
    others = {variable for name, variable in ENVIRONMENT.items() if name not in _KEPT} - settings.keys()
    inherited = environment_of(settings, alone=not start)
    environment = {name: value for name, value in inherited.items() if name not in others}
    before = [_stamp(path) for path in verified.files]
    with tempfile.TemporaryDirectory(prefix=".dlbc-", dir=shared_directory(program.path)) as name:
        plan = write_plan(program, max(1, ranks), Path(name))
        words = [*start, sys.executable, "-m", "dlbc.commands.verify.observe", str(directory), f"{timeout_s}"]
        process = _Process([*words, str(plan), *verified.arguments], environment, directory)
        status = process.wait(timeout_s)
    written = zip(verified.files, before, strict=True)
    return Outcome(
        directory=directory,
        stdout=(directory / "stdout").read_bytes(),
        stderr=(directory / "stderr").read_text(encoding="utf-8", errors="replace"),
        status=status,
        seconds=process.seconds,
        stacks=_stacks(directory) if status is None else "",
        end=_end(directory),
        files={str(path): path.read_bytes() if _stamp(path) != stamp else None for path, stamp in written},
    )


#: Settings of the user's that a run keeps; others would change what is drawn, or write files.
_KEPT = frozenset({"trust", "threads"})


class _Process:
    """A launcher with its ranks, in a process group of their own, writing to files of a directory."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], directory: Path) -> None:
        self._directory = directory
        self.seconds = 0.0
        with (directory / "stdout").open("wb") as stdout, (directory / "stderr").open("wb") as stderr:
            self._process = subprocess.Popen(
                words, env=environment, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                start_new_session=True,
            )  # fmt: skip

    def wait(self, timeout_s: float) -> int | None:
        """The exit status, 128 + N for signal N; None if the time is up. Nothing of it runs afterwards."""
        begin = time.monotonic()
        try:
            status = self._process.wait(timeout_s)
            return status if status >= 0 else 128 - status
        except subprocess.TimeoutExpired:
            self._await_stacks()
            return None
        finally:
            self.seconds = time.monotonic() - begin
            self._end()

    def _await_stacks(self) -> None:
        """Ranks start their clocks later than this process does, so they get some time."""
        until = time.monotonic() + _STACKS_S
        while time.monotonic() < until:
            files = list(self._directory.glob("stacks.*"))
            if files and all(file.stat().st_size for file in files):
                return
            time.sleep(0.05)

    def _end(self) -> None:
        """End what is left: the launcher, which ends its ranks, the group, and ranks outside of it."""
        if self._process.poll() is None:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_ENDING_S)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for file in self._directory.glob("stacks.*"):
            pid = int(file.suffix[1:])
            if self._is_ours(pid):
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)

    def _is_ours(self, pid: int) -> bool:
        """Whether a process that is still there has this run's directory among its words (Linux alone)."""
        try:
            return os.fsencode(self._directory) in Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return False


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _end(directory: Path) -> dict[str, Any] | None:
    """What the program's end left; None if it never came, as after `os._exit`."""
    try:
        found: dict[str, Any] = json.loads((directory / "end.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found


def _stacks(directory: Path) -> str:
    """The stacks of all ranks, in the order of ranks."""
    found = []
    for file in sorted(directory.glob("stacks.*"), key=lambda each: int(each.name.split(".")[1])):
        text = re.sub(r"(?m)^Timeout .*\n", "", file.read_text(errors="replace")).rstrip()
        found.append(f"rank {file.name.split('.')[1]}:\n{text or '  no stack: it had ended, or was stopped'}")
    return "\n".join(found)
