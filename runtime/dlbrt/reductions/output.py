"""Standard output while ranks share a loop: written to the journal, shown later in iteration order."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

from dlbrt.records import dataclass
from dlbrt.reductions.operations import RAW, WRITE

Log = Callable[[tuple[Any, ...]], None]


@dataclass(frozen=True, slots=True)
class OutputProperties:
    """The properties of rank 0's standard output, which bodies may query on any rank."""

    encoding: str
    errors: str | None
    terminal: bool


def output_properties() -> OutputProperties:
    """The properties of standard output on this rank."""
    stream = sys.stdout
    encoding = getattr(stream, "encoding", None) or "utf-8"
    isatty = getattr(stream, "isatty", None)
    return OutputProperties(encoding, getattr(stream, "errors", None), bool(isatty and isatty()))


class Output(io.TextIOBase):
    """Replaces ``sys.stdout``; ``log`` takes entries of target 0."""

    def __init__(self, log: Log, real: Any, about: OutputProperties) -> None:
        self._log = log
        self._real = real
        self._about = about
        self.buffer = _Bytes(log)

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of rank 0's output."""
        return self._about.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        """The error handler of rank 0's output."""
        return self._about.errors

    def write(self, text: str) -> int:
        """Log the text; TypeError for anything else."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._log((WRITE, text))
        return len(text)

    def writable(self) -> bool:
        """Always true."""
        return True

    def isatty(self) -> bool:
        """Whether rank 0's output is a terminal."""
        return self._about.terminal

    def fileno(self) -> int:
        """The descriptor of the real stream; UnsupportedOperation if it has none."""
        return int(self._real.fileno())


class _Bytes(io.RawIOBase):
    """``sys.stdout.buffer``."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def write(self, data: Any) -> int:
        """Log the bytes."""
        copied = bytes(data)
        self._log((RAW, copied))
        return len(copied)

    def writable(self) -> bool:
        """Always true."""
        return True
