"""Modules of the program that are imported as parallel ones, on rank 0 under ``dlbc run``.

Rank 0 imports them from text that ``dlbc run`` has generated before, under the name and place of their
source. A module that no import statement names, a plugin, is transformed when it is imported, by a process
of its own. The other ranks import the source: they get kernels by value, and need no others.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from dlbrt.contract import MARK
from dlbrt.observe.relocate import relocated_code

_RUNTIME = os.path.dirname(os.path.realpath(__file__)) + os.sep


class _Loader(SourceFileLoader):
    """Loads one module of the program from its generated text."""

    def __init__(self, name: str, path: str, generated: bytes) -> None:
        super().__init__(name, path)
        self._generated = generated

    def get_code(self, fullname: str) -> CodeType:
        """The code of the generated text; it is never cached in the folder of the source."""
        return relocated_code(self._generated, self.get_filename(fullname))


class ProgramFinder(MetaPathFinder):
    """Finds modules where Python does, and gives those with annotated loops another loader.

    ``generated`` are files by their source, ``roots`` the directories in which others may be annotated, and
    ``named`` those of installed packages, and files of single modules, in which they may be too.
    """

    def __init__(
        self,
        generated: Mapping[str, str],
        roots: Iterable[str],
        named: Iterable[str],
        options: Sequence[str],
    ) -> None:
        self._generated = dict(generated)
        self._roots, self._named = (tuple(os.path.join(each, "") for each in dirs) for dirs in (roots, named))
        self._options = options

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec that Python finds, with our loader; None where it finds no annotated source."""
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or spec.origin is None:
            return None
        text = self.text(spec.origin)
        if text is None:
            return None
        spec.loader = _Loader(fullname, spec.origin, text)
        return spec

    def text(self, path: str) -> bytes | None:
        """The generated text of a source file; None if it has no annotated loop, or is not the program's."""
        real = os.path.realpath(path)
        if real in self._generated:
            return Path(self._generated[real]).read_bytes()
        if not self._is_of_program(real) or MARK.encode() not in Path(real).read_bytes():
            return None
        return self._transformed(path)

    def _is_of_program(self, path: str) -> bool:
        installed = "site-packages" in path or path.startswith(_RUNTIME)
        named = os.path.join(path, "").startswith(self._named)
        return named or (path.startswith(self._roots) and not installed)

    def _transformed(self, path: str) -> bytes:
        """The generated text of a module unknown before the run; ends the program if it has errors."""
        words = ["transform", path, "-o", "-", "--imported", *self._options]
        command = [sys.executable, "-P", "-m", "dlbc", *words]  # not the modules in the current directory
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
        if done.returncode:
            sys.exit(done.returncode)
        return done.stdout


def transform_loaded_files(finder: ProgramFinder) -> None:
    """Have annotated files transformed also where a program makes their loader itself.

    `spec_from_file_location` and `SourceFileLoader(name, path)` ask no finder.
    """
    plain = SourceFileLoader.get_code

    def get_code(loader: SourceFileLoader, fullname: str) -> CodeType | None:
        path = loader.get_filename(fullname)
        text = finder.text(path) if os.path.isfile(path) else None
        return plain(loader, fullname) if text is None else relocated_code(text, path)

    SourceFileLoader.get_code = get_code  # type: ignore[assignment]


def imported_already(generated: Iterable[str]) -> list[str]:
    """The names of modules with annotated loops that were imported before rank 0 could transform them."""
    sources = set(generated)
    files = ((name, getattr(module, "__file__", None)) for name, module in list(sys.modules.items()))
    found = [(name, file) for name, file in files if isinstance(file, str) and name != "__main__"]
    return [name for name, file in found if os.path.realpath(file) in sources]
