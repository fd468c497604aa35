"""What the compiler asks of the file system: which files there are, and what they hold.

All questions that a compilation asks go through this module, so that they can be recorded with their answers.
As long as the answers are the same, so is the result of the compilation. A file that was looked for
and was absent is among them: once it is there, the answer is another one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: Questions by kind and path, with a text that stands for the answer.
Lookups = dict[tuple[str, str], str]

_recorded: Lookups | None = None


@contextmanager
def recording() -> Iterator[Lookups]:
    """The questions that are asked meanwhile, in this process."""
    global _recorded
    previous, _recorded = _recorded, {}
    try:
        yield _recorded
    finally:
        _recorded = previous


def is_file(path: Path) -> bool:
    """Whether there is such a file; a name that none can have is that of no file."""
    found = os.path.isfile(path)
    _note("file", path, str(found))
    return found


def is_directory(path: Path) -> bool:
    """Whether there is such a directory."""
    found = os.path.isdir(path)
    _note("directory", path, str(found))
    return found


def linked(path: Path) -> Path:
    """The file to which a link leads; any other path itself."""
    found = Path(os.path.realpath(path)) if os.path.islink(path) else path
    _note("link", path, str(found))
    return found


def cython_sources(folder: Path) -> list[Path]:
    """The files ``*.pyx`` in a folder."""
    found = sorted(folder.glob("*.pyx"))
    _note("pyx", folder, " ".join(map(str, found)))
    return found


def read(path: Path) -> bytes:
    """As `Path.read_bytes`; OSError, which is an answer too, if the file cannot be read."""
    try:
        data = path.read_bytes()
    except OSError as error:
        _note("content", path, f"{type(error).__name__} {error.errno}")
        raise
    if _recorded is not None:
        _note("content", path, _digest(data))
    return data


def unchanged(lookups: Lookups) -> bool:
    """Whether each question has the same answer now."""
    with recording() as now:
        for (kind, path), answer in lookups.items():
            with suppress(OSError):  # which is an answer
                _QUESTIONS[kind](Path(path))
            if now.get((kind, path)) != answer:
                return False
    return True


def _note(kind: str, path: Path, answer: str) -> None:
    if _recorded is not None and _recorded.setdefault((kind, str(path)), answer) != answer:
        _recorded[kind, str(path)] = ""  # it has changed meanwhile, so no answer is the same


def _digest(data: bytes) -> str:
    from hashlib import sha256

    return sha256(data).hexdigest()


_QUESTIONS: dict[str, Callable[[Path], object]] = {
    "file": is_file,
    "directory": is_directory,
    "link": linked,
    "pyx": cython_sources,
    "content": read,
}
