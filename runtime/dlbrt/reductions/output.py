"""Standard output while ranks share a loop: written to the journal, shown later in iteration order.

`Output` takes the place of ``sys.stdout``. Code that has kept the real stream (a handler of the module
logging, for instance) calls methods of that stream, which `divert` replaces.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable
from typing import Any

from dlbrt.records import dataclass
from dlbrt.reductions.operations import FLUSH, RAW, WRITE

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

    def release(self) -> None:
        """Write to the real stream from now on: iterations may have kept this object."""
        self._log = lambda entry: show(self._real, *entry)
        self.buffer = _Bytes(self._log)

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

    def flush(self) -> None:
        """Log that what has been written is to be shown, in the order of all that writes to descriptor 1."""
        self._log((FLUSH,))

    def close(self) -> None:
        """Nothing: the real stream stays open, and the end of this object is no flush."""

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


def divert(stream: Any, output: Output, restoring: contextlib.ExitStack) -> None:
    """Have a stream of Python's own write to ``output`` until ``restoring`` is closed."""
    if type(stream) is io.TextIOWrapper and "write" not in vars(stream):
        for name in ("write", "flush"):
            setattr(stream, name, getattr(output, name))
            restoring.callback(delattr, stream, name)


class RealStream:
    """A stream of Python's own, which writes whatever `divert` has put in the place of its methods."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.buffer = stream.buffer

    def write(self, text: str) -> None:
        """Write to the stream itself."""
        io.TextIOWrapper.write(self._stream, text)

    def flush(self) -> None:
        """Flush the stream itself."""
        io.TextIOWrapper.flush(self._stream)


def is_real(stream: Any) -> bool:
    """Whether it is the stream that the process began with, its methods unchanged."""
    unchanged = type(stream) is io.TextIOWrapper and vars(stream).keys().isdisjoint(("write", "flush"))
    return unchanged and stream is sys.__stdout__


def show(stream: Any, operation: int, data: Any = None) -> None:
    """Do with the real standard output what an entry says."""
    if operation == WRITE:
        stream.write(data)
    elif operation == RAW:
        stream.flush()
        stream.buffer.write(data)
    elif operation == FLUSH:
        stream.flush()
    else:
        write_all(1, data)


def write_all(descriptor: int, data: bytes) -> None:
    """Write everything to a descriptor; OSError if it cannot be written."""
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]
