"""Find and parse the program's own modules: those beside the file or in its package, never executed.

A module is found where Python would find it: a relative import from the folder of the file that imports, any
other below the folder of the program or of its outermost package. What is not there belongs to the library.
"""

from __future__ import annotations

from pathlib import Path

from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.loop import Module
from dlbc.parse.read_source import parse_module, read_source
from dlbc.source import Source


class ModuleFinder:
    """The modules of one program, each read and parsed once, when it is first asked for."""

    def __init__(self, program: Source) -> None:
        home = Path(program.path).parent
        outermost = home
        while (outermost / "__init__.py").is_file() and outermost != outermost.parent:
            outermost = outermost.parent
        self._roots = tuple(dict.fromkeys((home, outermost)))
        self._parsed: dict[Path, Module | None] = {}
        self._found: dict[tuple[str, Path], tuple[Module, str] | None] = {}

    def find(self, name: str, importer: Source) -> tuple[Module, str] | None:
        """The module that a dotted name begins with, and the rest of the name; None for the library's.

        ``name`` is as imports have it in ``importer``: ``helpers.fill``, ``~sub.fill`` for ``.sub.fill``.
        """
        folder = Path(importer.path).parent
        key = name, folder
        if key not in self._found:
            self._found[key] = self._search(name, folder)
        return self._found[key]

    def _search(self, name: str, folder: Path) -> tuple[Module, str] | None:
        plain = name.lstrip("~")
        level = len(name) - len(plain)
        roots = self._roots if not level else ([folder, *folder.absolute().parents][level - 1],)
        parts = [part for part in plain.split(".") if part]
        for root in roots:
            for length in range(len(parts), -1 if level else 0, -1):
                path = root.joinpath(*parts[:length])
                for file in (path.with_name(f"{path.name}.py"), path / "__init__.py"):
                    module = self._parse(file)
                    if module is not None:
                        return module, ".".join(parts[length:])
        return None

    def _parse(self, file: Path) -> Module | None:
        if file not in self._parsed:
            self._parsed[file] = _read(file) if file.is_file() else None
        return self._parsed[file]


def _read(file: Path) -> Module | None:
    """The module in a file; None where it is no readable program, so that its code is not seen."""
    source, problems = read_source(str(file))
    parsed = None if problems else parse_module(source)
    return None if isinstance(parsed, Diagnostic) else parsed
