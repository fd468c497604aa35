"""Compiled kernels, kept in the user's cache directory: one file each, named by a hash of all it depends on.

numba's own cache has one index for a function, keyed by argument types alone, and changes it without a lock
(numba#10128, #6845): ranks that compile at once may find each other's code. Here the name is the hash, a file
is written whole and then renamed, and nothing is ever changed. So the worst that a race can do is to compile
twice; a lock for each hash, which ends with its process, has one rank compile and the others wait and load.

A file is code that this process will run. It counts only if it is a regular file of this user that nobody
else may write, in a directory of which the same holds, and if its checksum is right; otherwise the kernel is
compiled anew. ``DLB_KEEP=0`` neither reads nor writes.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from itertools import chain
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from dlbrt.observe.files import cache_place

#: Kernels are neither kept nor looked for where it is 0.
KEEP = "DLB_KEEP"

#: At most so many bytes are kept; what has not been used for longest is removed.
MOST_BYTES = 512 * 2**20

#: How long to wait for another process that compiles the same kernel, before compiling it as well.
_TIMEOUT_S = 60.0
_POLL_S = 0.005

_HEAD = b"dlbc kernel 1\n"
_SUFFIX = ".kernel"


def kernel_directory(environ: Mapping[str, str]) -> Path | None:
    """Where kernels are kept; None if they are not, or the user has no such directory."""
    place = cache_place(environ)
    return None if place is None or environ.get(KEEP) == "0" else Path(place, "kernels")


@cache
def environment_digest() -> str:
    """The hash of what all compiled code depends on: versions, processor, settings, and this room itself."""
    import platform
    import sys

    import llvmlite
    import numba
    import numpy

    from dlbrt.contract import VERSION
    from dlbrt.native.lowering import SYMBOLS

    hashed = hashlib.sha256()
    versions = VERSION, sys.version, numba.__version__, llvmlite.__version__, numpy.__version__
    settings = sorted(item for item in os.environ.items() if item[0].startswith("NUMBA_"))
    for part in (*versions, platform.libc_ver(), *_processor(), settings, sorted(SYMBOLS)):
        hashed.update(f"{part}\n".encode("utf-8", "surrogatepass"))
    for path in sorted(Path(__file__).parent.glob("*.py")):
        hashed.update(path.read_bytes())
    return hashed.hexdigest()


def _processor() -> tuple[str, ...]:
    """Target, processor and its features, as numba compiles for them."""
    from numba.core.registry import cpu_target

    return tuple(map(str, cpu_target.target_context.codegen().magic_tuple()))


def kernel_key(*parts: object) -> str:
    """The name of a kernel: the hash of what it depends on alone, and of what all do."""
    text = "\n".join((environment_digest(), *map(str, parts)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class KernelCache:
    """The cache of one kernel, with the methods by which numba's dispatcher asks for compile results."""

    def __init__(self, directory: Path, key: str) -> None:
        self._directory, self._key = directory, key

    @property
    def path(self) -> Path:
        """The kernel's file."""
        return self._directory / f"{self._key}{_SUFFIX}"

    def load_overload(self, _: Any, target: Any) -> Any:
        """The compile result that was kept; None if there is none that may be trusted."""
        from numba.core import serialize
        from numba.core.compiler import CompileResult

        payload = _read(self.path)
        if payload is None:
            return None
        try:
            symbols, parts = serialize.loads(payload)
            _define(symbols, target)
            return CompileResult._rebuild(target, *parts)
        except Exception:  # whatever a file of another origin may lead to
            return None

    def save_overload(self, _: Any, result: Any) -> None:
        """Keep a compile result, if that is possible."""
        from numba.core import serialize

        if result.library.has_dynamic_globals or result.lifted or result.objectmode:
            return  # it has addresses of this process
        with suppress(Exception):  # not being able to keep it is no reason not to run it
            _write(self.path, serialize.dumps((_symbols(result.library), result._reduce())))
            _discard_oldest(self._directory)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the kernel's lock unless it is kept already; without one where locks are not supported."""
        if self.path.exists() or not _prepared(self._directory):
            yield
            return
        place = self._directory / f"{self._key}.lock"
        lock = _acquire(place, self.path)
        try:
            yield
        finally:
            if lock is not None:
                with suppress(OSError):
                    os.unlink(place)  # while it is held, so that no two processes hold different files
                os.close(lock)


def _symbols(library: Any) -> list[str]:
    """The names of the C functions and variables that compiled code refers to."""
    module = library._final_module
    named = chain(module.functions, module.global_variables)
    return [each.name for each in named if each.is_declaration and not each.name.startswith("llvm.")]


def _define(symbols: Sequence[str], target: Any) -> None:
    """Have LLVM know the symbols.

    numba's own cache refreshes the target for that, which imports all that numba can compile, scipy with it,
    and takes longer than reading dozens of kernels. Most of them use numba's memory alone (NRT).
    """
    from llvmlite.binding import address_of_symbol
    from numba.core.runtime import rtsys

    for define in (partial(rtsys.initialize, target), target.refresh):
        if all(map(address_of_symbol, symbols)):
            return
        define()


def _acquire(place: Path, awaited: Path) -> int | None:
    """The descriptor of a lock that is held; None once ``awaited`` exists, or if none is to be had."""
    try:
        import fcntl
    except ImportError:
        return None
    ends_s = time.monotonic() + _TIMEOUT_S
    while time.monotonic() < ends_s and not awaited.exists():
        try:
            lock = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            return None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(lock), os.stat(place)):
                return lock
        except BlockingIOError:
            time.sleep(_POLL_S)
        except FileNotFoundError:
            pass  # its holder has removed it
        except OSError:
            os.close(lock)
            return None
        os.close(lock)
    return None


def _prepared(directory: Path) -> bool:
    """Whether the directory exists now, and is the user's own."""
    with suppress(OSError):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _is_own(directory.stat())
    return False


def _is_own(status: os.stat_result) -> bool:
    """Whether it belongs to this user and nobody else may write to it."""
    mine = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    return mine and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _read(path: Path) -> bytes | None:
    """What a file holds after its head; None if it is not to be trusted, or damaged."""
    try:
        if not _is_own(path.parent.stat()):
            return None
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or not _is_own(status):
                return None
            content = file.read()
    except OSError:
        return None
    head, digest, payload = content[: len(_HEAD)], content[len(_HEAD) :][:32], content[len(_HEAD) + 32 :]
    if head != _HEAD or digest != _checksum(path, payload):
        return None
    with suppress(OSError):
        os.utime(path)  # when it was used last
    return payload


def _checksum(path: Path, payload: bytes) -> bytes:
    """Of the content and the name, so that a file under another's name does not count."""
    return hashlib.sha256(path.name.encode() + payload).digest()


def _write(path: Path, payload: bytes) -> None:
    """Write a file wholly or not at all, whoever else writes it."""
    if not _prepared(path.parent) or len(payload) > MOST_BYTES:
        return
    with NamedTemporaryFile(dir=path.parent, prefix=".", suffix=".tmp", delete=False) as file:
        try:  # the file's mode is 0600 from the start
            file.write(_HEAD + _checksum(path, payload) + payload)
            file.close()
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise


def _discard_oldest(directory: Path, most_bytes: int = MOST_BYTES) -> None:
    """Remove what has not been used for longest, as far as there is too much; also drafts left behind."""
    with os.scandir(directory) as entries:
        found = [(entry.stat().st_mtime, entry.stat().st_size, entry.path) for entry in entries]
    size = 0
    for _, bytes_of_file, path in sorted(found, reverse=True):
        size += bytes_of_file
        if size > most_bytes and not path.endswith(".lock"):
            with suppress(OSError):
                os.unlink(path)
