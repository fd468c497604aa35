"""Files written whole or not at all: a reader, a crash or a full disk meets the old content or the new one.

Law. The content goes to a draft beside the target, which then takes the target's place. The draft has a name
that no one can foresee, and is opened only if nothing is there yet, a link included; so no other file is
ever written to. It keeps the mode of the file that it replaces, and the owner as far as the system allows. Of
a link the target is replaced, not the link. A device or pipe has no content to be replaced: it is written to.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

#: Flags that not every system has.
_DRAFT = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)

#: The longest part of the target's name in the name of its draft: file systems allow 255 bytes.
_LONGEST = 50


def is_special(path: str | os.PathLike[str]) -> bool:
    """Whether the path leads to a device, a pipe or an open descriptor, and not to a file of its own."""
    where = os.path.abspath(os.fspath(path))
    if where.startswith(("/dev/fd/", "/proc/")) or where in ("/dev/stdout", "/dev/stderr"):
        return True
    try:
        mode = os.stat(where).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def write_whole(
    path: str | os.PathLike[str], content: bytes, like: str | os.PathLike[str] | None = None
) -> None:
    """Write the file; OSError if it cannot be written, and then what was there is still there.

    A new file has the mode of the file ``like``, by default that which the process gives to new files.
    """
    if is_special(path):
        with _opened(path, os.O_WRONLY | os.O_APPEND) as handle:
            _write(handle, content)
        return
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    short = os.fsencode(name)[:_LONGEST].decode(errors="ignore")
    draft = os.path.join(folder, f".{short}.{secrets.token_hex(8)}.tmp")
    try:
        model = os.stat(target) if os.path.lexists(target) else None
        mode = 0o666 if model is None else 0o600
        if model is not None and not stat.S_ISREG(model.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), target)
        with _opened(draft, _DRAFT, mode) as handle:
            _write(handle, content)
            _take_after(handle, model, like)
            os.fsync(handle)
        os.replace(draft, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


@contextmanager
def _opened(path: str | os.PathLike[str], flags: int, mode: int = 0o666) -> Iterator[int]:
    handle = os.open(path, flags | getattr(os, "O_CLOEXEC", 0), mode)
    try:
        yield handle
    finally:
        os.close(handle)


def _take_after(handle: int, model: os.stat_result | None, like: str | os.PathLike[str] | None) -> None:
    """Give the draft the owner and mode of the file that it replaces, or the mode of the file ``like``."""
    if model is not None and hasattr(os, "fchown"):
        own = os.fstat(handle)
        if (own.st_uid, own.st_gid) != (model.st_uid, model.st_gid):
            with suppress(PermissionError):  # only a privileged process may give files away
                os.fchown(handle, model.st_uid, model.st_gid)
    if model is None and like is not None:
        model = os.stat(like)
    if model is not None and hasattr(os, "fchmod"):
        os.fchmod(handle, stat.S_IMODE(model.st_mode) & 0o777)


def _write(handle: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(handle, rest) :]
