"""Standard output of a process: what goes through ``sys.stdout``, and what is written past it.

C code, child processes and ``os.write`` know no stream of Python's; libraries may have kept the real stream
or its method ``write``. So the methods of the real stream are replaced for a while, what still arrives in it
is taken out, and a file takes the place of descriptor 1, which shows what is written by whatever way.
What C's own buffer holds is seen by its length: rank 0 does not flush it, since the sequential program would
not, and output comes out in the order of such flushes.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import sys
from typing import Any

from dlbrt.observe.terminal import write_line
from dlbrt.reductions.operations import DESCRIPTOR, RAW
from dlbrt.reductions.output import Log, Output, OutputProperties, divert, output_properties, show, write_all

#: Output that contradicts a plan, by a name; of the second kind it is not known which iterations wrote it.
BYPASSED, HELD_BACK = "standard output (written past sys.stdout)", "standard output (held back by C)"

_STANDARD = 1


class CapturedDescriptor:
    """A file in the place of descriptor 1 until `restore`; OSError where there is no such descriptor."""

    def __init__(self) -> None:
        self._real = os.dup(_STANDARD)
        self._file = _temporary_file()
        self._taken = 0
        self._in_c_buffer = _in_c_buffer()
        os.dup2(self._file, _STANDARD)

    def take(self) -> bytes:
        """What has been written since the last call."""
        end = os.lseek(self._file, 0, os.SEEK_CUR)
        if end == self._taken:
            return b""
        os.lseek(self._file, self._taken, os.SEEK_SET)
        data = os.read(self._file, end - self._taken)  # leaves the position at the end
        self._taken = end
        return data

    @property
    def is_held_back(self) -> bool:
        """Whether C's buffer for standard output holds more, or less, than when this was made."""
        return _in_c_buffer() != self._in_c_buffer

    def write_through(self, data: bytes) -> None:
        """Write to what descriptor 1 was."""
        write_all(self._real, data)

    def restore(self) -> None:
        """Give descriptor 1 back."""
        os.dup2(self._real, _STANDARD)
        os.close(self._real)
        os.close(self._file)


class _KeptMethods:
    """What code writes by methods of a real stream of Python's that it has kept."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        self._stream, self._data = stream, bytearray()
        self._push()
        stream.buffer.write = self._collect  # type: ignore[method-assign]

    def take(self) -> bytes:
        """What has been written since the last call."""
        self._push()
        data = bytes(self._data)
        self._data.clear()
        return data

    def close(self) -> None:
        """Let the stream write again."""
        del self._stream.buffer.write

    def _push(self) -> None:
        """Have the stream hand on the text that it holds, without a flush of what is below it."""
        buffer: Any = self._stream.buffer
        buffer.flush = lambda: None
        io.TextIOWrapper.flush(self._stream)
        del buffer.flush

    def _collect(self, data: Any) -> int:
        self._data += data
        return len(data)


class DivertedOutput:
    """Standard output as entries of a log, until `close`.

    ``watched``: what is written past ``sys.stdout`` too. ``bypassed`` is then how it has been, if it has.
    """

    def __init__(self, log: Log, about: OutputProperties, *, watched: bool) -> None:
        self.bypassed: str | None = None
        self._log = log
        self._restoring = contextlib.ExitStack()
        self._descriptor: CapturedDescriptor | None = None
        self._kept: list[_KeptMethods] = []
        real = sys.stdout
        streams = list({id(stream): stream for stream in (real, sys.__stdout__)}.values())
        if watched:
            self._watch(streams)
        output = Output(self._take_and_log if watched else log, real, about)
        for stream in streams:
            divert(stream, output, self._restoring)
        self._restoring.callback(output.release)
        self._restoring.callback(_replace, output, real)
        sys.stdout = output

    def take(self) -> bool:
        """Log what has been written past ``sys.stdout`` since the last call; whether anything has."""
        found = [(RAW, data) for kept in self._kept if (data := kept.take())]
        if self._descriptor is not None and (data := self._descriptor.take()):
            found.append((DESCRIPTOR, data))
        for entry in found:
            self.bypassed = self.bypassed or BYPASSED
            self._log(entry)
        return bool(found)

    def close(self) -> None:
        """Restore standard output."""
        self.take()
        if self._descriptor is not None and self._descriptor.is_held_back:
            self.bypassed = HELD_BACK
        self._restoring.close()

    def _watch(self, streams: list[Any]) -> None:
        for stream in streams:
            if type(stream) is io.TextIOWrapper:
                self._kept.append(_KeptMethods(stream))
                self._restoring.callback(self._kept[-1].close)
        with contextlib.suppress(OSError):  # there is no descriptor 1
            self._descriptor = CapturedDescriptor()
            self._restoring.callback(self._descriptor.restore)

    def _take_and_log(self, entry: tuple[Any, ...]) -> None:
        self.take()
        self._log(entry)


def _replace(output: Output, real: Any) -> None:
    """Restore ``sys.stdout``, unless iterations have set another one."""
    if sys.stdout is output:
        sys.stdout = real


class OutputProbe:
    """Whether anything is written past ``sys.stdout``, until `close`, which shows what was written."""

    def __init__(self) -> None:
        self._entries: list[tuple[Any, ...]] = []
        self._output = DivertedOutput(self._entries.append, output_properties(), watched=True)

    def close(self) -> bool:
        """Show what was written, in its order; whether some of it went past ``sys.stdout``."""
        self._output.close()
        for operation, *data in self._entries:
            show(sys.stdout or io.StringIO(), operation, *data)
        return self._output.bypassed is not None


class WorkerOutput:
    """Descriptor 1 of a worker, for good: what the modules that it imports print, rank 0's have printed."""

    def __init__(self) -> None:
        self._descriptor: CapturedDescriptor | None = None
        self._written = b""
        with contextlib.suppress(OSError):  # there is no descriptor 1
            self._descriptor = CapturedDescriptor()

    def begin(self) -> None:
        """Forget what has been written so far."""
        self._take()

    def bypassed(self) -> str | None:
        """How standard output has been written past ``sys.stdout`` since `begin`; None if it has not."""
        self._written = self._take()
        return BYPASSED if self._written else None

    def pass_on(self, rank: int) -> None:
        """Show what `bypassed` has found, of which the order is lost, with a line on standard error."""
        if self._descriptor is not None and self._written:
            self._descriptor.write_through(self._written)
            line = f"dlb: rank {rank}: {BYPASSED} comes out in no order; call the function where dlbc sees it"
            write_line(line)

    def _take(self) -> bytes:
        if self._descriptor is None:
            return b""
        if (library := _c_library()) is not None:
            library.fflush(None)
        if type(sys.__stdout__) is io.TextIOWrapper:
            io.TextIOWrapper.flush(sys.__stdout__)
        return self._descriptor.take()


def _in_c_buffer() -> int:
    """Bytes in C's buffer for standard output; 0 where they cannot be counted."""
    found = _c_standard_output()
    return found[0](found[1]) if found is not None else 0


@functools.cache
def _c_standard_output() -> tuple[Any, Any] | None:
    """C's function that counts what a stream holds, and the stream."""
    import ctypes

    library = _c_library()
    if library is None or not hasattr(library, "__fpending"):
        return None
    count = library["__fpending"]
    count.argtypes, count.restype = (ctypes.c_void_p,), ctypes.c_size_t
    return count, ctypes.c_void_p.in_dll(library, "stdout")


@functools.cache
def _c_library() -> Any:
    """The C library that this process runs on; None where it cannot be called."""
    import ctypes

    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):
        return None
    return library if hasattr(library, "fflush") else None


def _temporary_file() -> int:
    """The descriptor of a new file that vanishes when it is closed."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("dlb")
    import tempfile

    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
