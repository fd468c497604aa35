"""The terminal on which standard error ends, also where a launcher stands between it and this process.

Under a launcher a rank's standard error is a pipe, which the launcher passes on to its own. Whether that is a
terminal is to be seen at the launcher, a process above this one on the same host (Linux).
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO

_LAUNCHERS = ("mpiexec", "mpiexec.hydra", "mpirun", "orterun", "prterun", "prte", "srun")
STANDARD_OUTPUT, STANDARD_ERROR = 1, 2
_WIDTH = 80


def find_terminal(descriptor: int = STANDARD_ERROR) -> str | None:
    """The path of the terminal that shows what is written to a standard descriptor; None if none does."""
    if os.environ.get("TERM") == "dumb":
        return None
    try:
        if os.isatty(descriptor):
            return os.ttyname(descriptor)
        if not os.readlink(f"/proc/self/fd/{descriptor}").startswith(("pipe:", "socket:")):
            return None
        shown = os.readlink(f"/proc/{_launcher()}/fd/{descriptor}")
    except OSError:
        return None
    return shown if shown.startswith(("/dev/pts/", "/dev/tty")) else None


def _launcher() -> int:
    """The process nearest to the top that starts ranks, this one being a rank; 0 if there is none."""
    found, pid = 0, os.getppid()
    while pid > 1:
        if _read(f"/proc/{pid}/comm").strip() in _LAUNCHERS:
            found = pid
        # The name of the program, in parentheses, may hold anything.
        pid = int(_read(f"/proc/{pid}/stat").rpartition(")")[2].split()[1])
    return found


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def write_line(text: str, stream: TextIO | None = None) -> None:
    """Write a line to standard error, or another stream, together with its end.

    `print` writes the end by itself where Python does not buffer (`python -u`), and a launcher that passes on
    what ranks write may then put other output between the two.
    """
    to = sys.stderr if stream is None else stream
    if to is not None:  # there may be no descriptor 2
        to.write(f"{text}\n")
        to.flush()


class TerminalOutput:
    """Writes to standard error, and knows the width of the terminal, whose path may be unknown."""

    def __init__(self, path: str | None) -> None:
        self._path = path

    def write(self, text: str) -> None:
        """Write at once."""
        with suppress(OSError):
            _write_all(STANDARD_ERROR, text.encode(sys.stderr.encoding or "utf-8", "replace"))

    def width(self) -> int:
        """Characters in a line."""
        if columns := os.environ.get("COLUMNS", ""):
            return int(columns) if columns.isdecimal() else _WIDTH
        if self._path is not None:
            with suppress(OSError):
                terminal = os.open(self._path, os.O_RDONLY | os.O_NOCTTY)
                try:
                    return os.get_terminal_size(terminal).columns or _WIDTH
                finally:
                    os.close(terminal)
        return _WIDTH


def _write_all(descriptor: int, data: bytes) -> int:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
    return len(data)


class _Preceded(io.RawIOBase):
    """A descriptor; ``before`` is called with what is about to be written; it goes ``to`` another, if any."""

    def __init__(self, below: Any, before: Callable[[bytes], object], to: int | None) -> None:
        self._below, self._before, self._to = below, before, to
        self.name, self.mode = below.name, below.mode

    def write(self, data: Any) -> int | None:
        """Write, after a call of ``before``."""
        self._before(bytes(data))
        if self._to is not None:
            return _write_all(self._to, bytes(data))
        written: int | None = self._below.write(data)
        return written

    def fileno(self) -> int:
        """The descriptor."""
        return int(self._below.fileno())

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return bool(self._below.isatty())

    def writable(self) -> bool:
        """Always true."""
        return True


def precede(name: str, before: Callable[[bytes], object], to: int | None = None) -> None:
    """Have ``before`` called with all that Python writes to ``stdout`` or ``stderr``, when it is written.

    It goes ``to`` another descriptor, where that is given: a launcher that passes both on to one terminal may
    otherwise change their order.
    The stream is made anew over the same descriptor, with the same properties. To be called before the
    program begins; a stream that is not the one that Python has made stays as it is.
    """
    stream = getattr(sys, name)
    if type(stream) is not io.TextIOWrapper or stream is not getattr(sys, f"__{name}__"):
        return
    about: dict[str, Any] = {
        "encoding": stream.encoding,
        "errors": stream.errors,
        "line_buffering": stream.line_buffering,
        "write_through": stream.write_through,
        "newline": "\n",
    }
    stream.flush()
    buffer: Any = stream.detach()
    if isinstance(buffer, io.BufferedWriter):
        binary: Any = io.BufferedWriter(_Preceded(buffer.detach(), before, to))
    else:  # `python -u`
        binary = _Preceded(buffer, before, to)
    made = io.TextIOWrapper(binary, **about)
    setattr(made, "mode", "w")  # noqa: B010 -- as Python sets it
    setattr(sys, name, made)
    setattr(sys, f"__{name}__", made)
