"""A directory written as a whole: annotated modules transformed, everything else as it is.

Ranks above 0 stop at the start of the runtime. So a program without annotated loops that imports modules with
some starts it too, unless nothing of it that anyone sees runs before its first import of such a module.

What was written is kept in a list of hashes. So writing the tree again overwrites, or removes, what nobody
has changed since, and nothing else.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from dlbrt.records import dataclass
from dlbrt.visible_effects import visible_effects
from dlbrt.whole_files import is_special, write_whole

from dlbc.commands.common import show_diagnostics
from dlbc.commands.files import is_searched, may_be_annotated
from dlbc.commands.transform.write import protected, seen_from
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.emit.seal import is_unedited
from dlbc.ir.loop import Module
from dlbc.parse.find_modules import ModuleFinder, SearchPath
from dlbc.parse.find_program import imports_of
from dlbc.parse.read_source import WHOLE_FILE, read_source
from dlbc.pipeline import transform
from dlbc.source import Source

#: The list of what was written, in the output.
_RECORD = ".dlbc-tree.json"


def write_tree(folder: Path, output: Path, packages: tuple[Path, ...], *, force: bool, strict: bool) -> int:
    """Write the directory ``folder`` to ``output``, all of it or nothing; the exit status.

    ``packages`` are read though they are installed (`SearchPath`).
    """
    nowhere = Source(str(folder), b"", "")
    if output.exists() and os.path.samefile(output, folder):
        return show_diagnostics(nowhere, (report("DLB012", WHOLE_FILE),))
    tree = _Tree(folder, list(_files(folder, output)), packages)
    texts, status = tree.texts(output, strict=strict)
    if status:
        return status
    if not tree.annotated:
        print(f"dlbc: {folder}: found no annotation in any program here or below", file=sys.stderr)
    try:
        written = _Record.read(output)
        refused = list(_refused(output, texts, written)) if not force else []
        if refused:
            return max(show_diagnostics(Source(str(source), b"", ""), (why,)) for source, why in refused)
        for path, text in texts.items():
            target = output / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if is_special(target) or not target.exists() or target.read_bytes() != text:
                write_whole(target, text, like=folder / path)
        written.renew(texts)
    except OSError as error:
        reason = error.strerror or str(error)
        return show_diagnostics(nowhere, (report("DLB013", WHOLE_FILE, output=output, reason=reason),))
    return 0


def _files(folder: Path, output: Path) -> Iterator[Path]:
    """The files to write, in terms of the directory; those of the output, if it lies in it, are none.

    What a link leads to is copied. Links that lead nowhere or up to a directory that they are in, pipes and
    sockets are left out: there is nothing to copy, or no end.
    """
    own = os.path.realpath(output)
    for place, folders, files in os.walk(folder, followlinks=True):
        above = {own, *(os.path.realpath(each) for each in (place, *map(str, Path(place).parents)))}
        inside = (Path(place, name) for name in sorted(folders))
        folders[:] = [
            each.name for each in inside if is_searched(each) and os.path.realpath(each) not in above
        ]
        found = (Path(place, name) for name in sorted(files) if name != _RECORD)
        yield from (each.relative_to(folder) for each in found if each.is_file())


def _refused(
    output: Path, texts: Mapping[Path, bytes], written: _Record
) -> Iterator[tuple[Path, Diagnostic]]:
    """Existing files that somebody else has written or changed."""
    for path, text in texts.items():
        target = output / path
        old = target.read_bytes() if target.exists() and not is_special(target) else None
        if old is not None and old != text and not (written.knows(path, old) or is_unedited(old)):
            yield path, protected(target, old)


@dataclass(frozen=True, slots=True)
class _Record:
    """What was written to a directory: hashes by path."""

    output: Path
    hashes: dict[str, str]

    @classmethod
    def read(cls, output: Path) -> _Record:
        """The record in a directory; empty where there is none that can be read."""
        try:
            found = json.loads((output / _RECORD).read_bytes())
        except (OSError, ValueError):
            found = {}
        hashes = found if isinstance(found, dict) else {}
        return cls(output, {path: str(value) for path, value in hashes.items() if _within(path)})

    def knows(self, path: Path, data: bytes) -> bool:
        """Whether the file is as it was written."""
        return self.hashes.get(path.as_posix()) == _hash(data)

    def renew(self, texts: Mapping[Path, bytes]) -> None:
        """Remove what was written before and is no longer part of the tree; write the new record."""
        for name in self.hashes.keys() - {path.as_posix() for path in texts}:
            target = self.output / name
            if target.is_file() and self.knows(Path(name), target.read_bytes()):
                target.unlink()
        hashes = {path.as_posix(): _hash(text) for path, text in texts.items()}
        write_whole(self.output / _RECORD, (json.dumps(hashes, indent=1) + "\n").encode())


def _within(path: str) -> bool:
    """Whether a recorded path stays in the directory."""
    return not PurePosixPath(path).is_absolute() and ".." not in PurePosixPath(path).parts


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class _Tree:
    """The modules of a directory, and who imports whom."""

    def __init__(self, folder: Path, files: Sequence[Path], packages: tuple[Path, ...]) -> None:
        self._named, self._folder = folder, folder.absolute()
        self._files = files
        self._search = SearchPath((self._folder,), packages)
        self._finder = ModuleFinder(Source(str(self._folder / "_"), b"", ""), self._search)
        self._modules = {
            path: module
            for path in files
            if path.suffix == ".py" and (module := self._finder.parsed(self._folder / path)) is not None
        }
        self._imports = {path: set(self._imported_by(path)) for path in self._modules}
        self.annotated = [p for p in files if p.suffix == ".py" and may_be_annotated(folder / p)]

    def texts(self, output: Path, *, strict: bool) -> tuple[dict[Path, bytes], int]:
        """The text of each file, and the exit status; prints the diagnostics of annotated modules."""
        imported = set[Path]().union(*self._imports.values())
        status, texts = 0, {}
        for path in self._files:
            starts = path not in self.annotated and self._starts(path, imported)
            if path not in self.annotated and not starts:
                texts[path] = (self._folder / path).read_bytes()
                continue
            source, problems = read_source(str(self._named / path))
            if not problems:
                result = transform(
                    source,
                    strict=strict,
                    imported=path in imported or (path.name != "__main__.py" and self._is_in_package(path)),
                    starts=starts,
                    origin=seen_from(output / path, self._folder / path),
                    search=self._search,
                )
                problems = result.diagnostics
                texts[path] = result.text or b""
            status = max(status, show_diagnostics(source, problems))
        return texts, status

    def _imported_by(self, path: Path) -> Iterator[Path]:
        """The files of the tree that a module imports."""
        module = self._modules[path]
        for name in imports_of(module.tree):
            for file in self._finder.files(name, module.source):
                if file.is_relative_to(self._folder):
                    yield file.relative_to(self._folder)

    def _is_in_package(self, path: Path) -> bool:
        return (self._folder / path).with_name("__init__.py").is_file()

    def _starts(self, path: Path, imported: set[Path]) -> bool:
        """Whether it is a program that has to start the runtime at its beginning."""
        module = self._modules.get(path)
        if module is None or not (path.name == "__main__.py" or path not in imported or _has_guard(module)):
            return False
        reached = self._reached(path)
        if not reached.intersection(self.annotated):
            return False
        others = (each for each in reached - {path} if each not in self.annotated)
        effects = (next(visible_effects(self._modules[each].tree.body, sys.maxsize), None) for each in others)
        return (
            any(effects) or next(visible_effects(module.tree.body, self._first_lead(path)), None) is not None
        )

    def _reached(self, path: Path) -> set[Path]:
        """The modules of the tree to which imports lead."""
        reached, waiting = set[Path](), [path]
        while waiting:
            each = waiting.pop()
            if each not in reached and each in self._modules:
                reached.add(each)
                waiting += self._imports[each]
        return reached

    def _first_lead(self, path: Path) -> int:
        """The line of the first import, not within a function, that leads to an annotated module.

        Where there is none, a line beyond the last: the program has run by then, its main block included.
        """
        module = self._modules[path]
        for statement in _imports_outside_functions(module.tree):
            for name in imports_of(ast.Module([statement], [])):
                files = {f.relative_to(self._folder) for f in self._finder.files(name, module.source)}
                if any(self._reached(file).intersection(self.annotated) for file in files):
                    return statement.lineno
        return len(module.source.text.splitlines()) + 1


def _imports_outside_functions(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.expr):
            yield from _imports_outside_functions(child)


def _has_guard(module: Module) -> bool:
    tests = (statement.test for statement in module.tree.body if isinstance(statement, ast.If))
    return any("__name__" in ast.dump(test) for test in tests)
