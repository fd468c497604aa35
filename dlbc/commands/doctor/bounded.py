"""Commands that end in time: once their time is up, they and all that they have started are ended."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from dlbc.commands.supervise import processes_below

__all__ = ["BoundedCommands", "CommandResult"]

#: Seconds that a launcher has to end its ranks, those on other hosts too, before it is killed.
_GRACE_S = 3.0
_NOT_STARTED = 127


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended: ``status`` is negative for a signal, None where the time was up."""

    status: int | None
    output: str
    errors: str

    @property
    def reason(self) -> str:
        """The last line on standard error that says something; empty if there is none."""
        lines = [line.strip() for line in self.errors.splitlines()]
        return next((line for line in reversed(lines) if line.strip("-=|* ")), "")


class BoundedCommands:
    """Runs commands, each for at most ``timeout_s`` seconds, from any thread."""

    def __init__(self, timeout_s: float, environment: Mapping[str, str]) -> None:
        self.timeout_s = timeout_s
        self.environment = dict(environment)
        self._running: set[subprocess.Popen[bytes]] = set()

    def run(self, command: Sequence[str]) -> CommandResult:
        """Run a command without standard input, in a session of its own.

        A command that cannot be started has status 127, as in a shell.
        """
        # Files, not pipes: a process that is left cannot hold them open.
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            try:
                process = subprocess.Popen(
                    command, env=self.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                    start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                return CommandResult(_NOT_STARTED, "", f"{command[0]}: {error.strerror or error}")
            self._running.add(process)
            try:
                status: int | None = process.wait(self.timeout_s)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                self._running.discard(process)
                if process.poll() is None:
                    _end(process)
            return CommandResult(status, _content(output), _content(errors))

    def end_all(self) -> None:
        """End the commands that other threads run."""
        for process in list(self._running):
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    started = processes_below(process.pid)  # a launcher may give its ranks sessions of their own
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_S)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for pid in started:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_S)


def _content(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode(errors="replace")
