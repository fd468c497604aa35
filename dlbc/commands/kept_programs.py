"""Whole programs as they are compiled, kept in the user's cache directory from one run to the next.

A file there belongs to one `Request`, to the place of the program, and to the versions of Python, of the
compiler and of the packages that it uses: its name is their hash. It holds what the compiler has asked of
the file system with the answers (`dlbc.parse.lookups`), and counts only while all of them are the
same. A file that is damaged, of another user, or of something else, is as good as none. ``DLB_KEEP=0`` has
every run compile anew.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from dlbrt import contract
from dlbrt.observe.files import cache_place

from dlbc.parse.lookups import Lookups, unchanged

#: Nothing is looked for, nor kept, where it is 0.
KEEP = "DLB_KEEP"

#: At most so many programs, and so many bytes, are kept; those go first that have not been run for longest.
_MOST_FILES = 256
_MOST_BYTES = 64 * 2**20

#: The packages that the compiler uses, as the names of their folders begin.
_USED = ("islpy", "jinja2", "libcst", "z3")


class WholeProgram(NamedTuple):
    """A program whose annotated files are transformed without errors.

    ``path`` is the file that is run, and ``module`` the module that it runs as, empty if it is a file.
    ``generated`` are the texts of files that differ from their sources. ``roots`` are the directories of its
    modules, ``named`` those of packages that the user named. ``imports_by_name``: it may import modules whose
    names it computes; ``strict`` is how they are transformed then.
    """

    path: Path
    module: str
    generated: tuple[tuple[Path, bytes], ...]
    roots: tuple[Path, ...]
    named: tuple[Path, ...]
    imports_by_name: bool
    strict: bool

    @property
    def parallel(self) -> bool:
        """Whether it has annotated loops, or may import modules that have some."""
        return bool(self.generated) or self.imports_by_name


class Request(NamedTuple):
    """What is to be compiled: the file ``path``, as a ``module`` where one is named, by these options.

    ``named`` and ``followed`` are directories of packages, or files of single modules.
    """

    path: Path
    module: str
    named: tuple[Path, ...]
    followed: tuple[Path, ...]
    strict: bool


class Compilation(NamedTuple):
    """The program, None if it has errors, the status, and the diagnostics: plain, and with colours."""

    program: WholeProgram | None
    status: int
    diagnostics: tuple[tuple[str, str], ...]


def find(request: Request, environ: Mapping[str, str]) -> Compilation | None:
    """What was kept of this request, if compiling it again would give the same."""
    try:
        place = _place(request, environ)
        return None if place is None else _read(place)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def keep(request: Request, compiled: Compilation, asked: Lookups, environ: Mapping[str, str]) -> None:
    """Keep what was compiled without errors, by the answers to what was asked."""
    if compiled.program is None:
        return
    with suppress(OSError, ValueError):
        if (place := _place(request, environ)) is not None:
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(place, _encoded(compiled.program, compiled.diagnostics, asked))
            _discard_oldest(place.parent)


def _place(request: Request, environ: Mapping[str, str]) -> Path | None:
    """The file of a request; None if nothing is to be kept, or the user has no cache directory."""
    directory = cache_place(environ)
    if directory is None or environ.get(KEEP) == "0" or not request.path.is_file():
        return None  # a pipe can be read only once
    versions = sys.version, sys.flags.optimize, *_compiler_files(), *_used_packages()
    # What else depends on the current directory is among the answers.
    places = request.path.absolute(), os.getcwd() if request.module else ""
    text = "\0".join(map(str, (*request, *places, *versions)))
    return Path(directory, "programs", f"{_digest(text.encode('utf-8', 'surrogatepass'))}.json")


def _compiler_files() -> Iterator[tuple[str, int, int]]:
    """The files of the compiler, and of what it shares with the runtime, with their times and sizes."""
    waiting = [os.path.dirname(os.path.dirname(__file__))]
    for name in ("contract.py", "records.py", "visible_effects.py"):
        path = os.path.join(os.path.dirname(contract.__file__), name)
        yield path, os.stat(path).st_mtime_ns, os.stat(path).st_size
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in sorted(entries, key=lambda each: each.name):
                if entry.is_dir():
                    waiting += [entry.path] if entry.name != "__pycache__" else []
                else:
                    yield entry.path, entry.stat().st_mtime_ns, entry.stat().st_size


def _used_packages() -> Iterator[tuple[str, int]]:
    """The folders of packages that the compiler uses, and of their versions, with their times."""
    for folder in filter(os.path.isdir, dict.fromkeys(sys.path)):
        for name in sorted(os.listdir(folder)):
            if name.lower().startswith(_USED):
                yield name, os.stat(os.path.join(folder, name)).st_mtime_ns


def _digest(data: bytes) -> str:
    from hashlib import sha256

    return sha256(data).hexdigest()


def _encoded(
    program: WholeProgram, diagnostics: Sequence[tuple[str, str]], asked: Lookups
) -> dict[str, object]:
    """The program as JSON has it; bytes are text of as many characters."""
    return {
        **program._asdict(),
        "path": str(program.path),
        "generated": [(str(path), text.decode("latin-1")) for path, text in program.generated],
        "roots": [str(path) for path in program.roots],
        "named": [str(path) for path in program.named],
        "diagnostics": diagnostics,
        "asked": [(*question, answer) for question, answer in asked.items()],
    }


def _decoded(document: dict[str, Any]) -> Compilation | None:
    """What was encoded; None if an answer has changed."""
    asked = {(kind, path): answer for kind, path, answer in document.pop("asked")}
    diagnostics = tuple((plain, colored) for plain, colored in document.pop("diagnostics"))
    if not unchanged(asked):
        return None
    program = WholeProgram(**document)._replace(
        path=Path(document["path"]),
        generated=tuple((Path(path), text.encode("latin-1")) for path, text in document["generated"]),
        roots=tuple(map(Path, document["roots"])),
        named=tuple(map(Path, document["named"])),
    )
    return Compilation(program, 0, diagnostics)


def _read(place: Path) -> Compilation | None:
    """What a file holds; None if it is not this user's or not whole. OSError if there is none."""
    with place.open("rb") as file:
        if hasattr(os, "geteuid") and os.fstat(file.fileno()).st_uid != os.geteuid():
            return None
        digest, _, text = file.read().partition(b"\n")
    if digest.decode("latin-1") != _digest(text):
        return None
    found = _decoded(json.loads(text))
    if found is not None:
        with suppress(OSError):
            os.utime(place)  # when it was used last
    return found


def _write(place: Path, document: dict[str, object]) -> None:
    """Write a file wholly or not at all, whoever else writes it."""
    from tempfile import NamedTemporaryFile

    text = json.dumps(document).encode()
    if len(text) > _MOST_BYTES:
        return
    with NamedTemporaryFile(dir=place.parent, prefix=".", suffix=".tmp", delete=False) as file:
        try:
            file.write(_digest(text).encode() + b"\n" + text)
            file.close()
            os.replace(file.name, place)
        except BaseException:
            os.unlink(file.name)
            raise


def _discard_oldest(directory: Path) -> None:
    """Remove what has not been used for longest, as far as there is too much; also drafts left behind."""
    with os.scandir(directory) as entries:
        found = [(entry.stat().st_mtime, entry.stat().st_size, entry.path) for entry in entries]
    size = 0
    for count, (_, bytes_of_file, path) in enumerate(sorted(found, reverse=True), start=1):
        size += bytes_of_file
        if count > _MOST_FILES or size > _MOST_BYTES:
            with suppress(OSError):
                os.unlink(path)
