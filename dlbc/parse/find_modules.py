"""Find and parse the program's own modules: those beside the file or in its package, never executed.

A module is found where Python would find it: a relative import from the folder of the file that imports, any
other below the folder of the program or of its outermost package. What is not there belongs to the library.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dlbrt.records import dataclass

from dlbc.analysis.call_targets import ProgramModule
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.loop import Module
from dlbc.parse import lookups
from dlbc.parse.read_source import parse_module, read_source
from dlbc.source import Source


class ModuleStore:
    """Modules that several programs share: those read, by their files, and those surveyed, by their paths.

    It holds as long as the files stay as they are.
    """

    def __init__(self) -> None:
        self.read: dict[Path, tuple[Source | None, Module | None]] = {}
        self.surveyed: dict[str, ProgramModule] = {}


@dataclass(frozen=True, slots=True)
class SearchPath:
    """Where modules are found besides the places that follow from that of a program.

    ``roots`` are directories of its modules, ``packages`` the directories of single packages, or the files of
    single modules, that are installed and read nevertheless. ``store`` is shared by several programs.
    """

    roots: tuple[Path, ...] = ()
    packages: tuple[Path, ...] = ()
    store: ModuleStore | None = None


#: What the directories are called that packages are installed in.
_INSTALLED = frozenset({"site-packages", "dist-packages"})


class ModuleFinder:
    """The modules of one program, each read and parsed once, when it is first asked for."""

    def __init__(self, program: Source, search: SearchPath) -> None:
        self._roots = tuple(dict.fromkeys((*own_roots(Path(program.path)), *search.roots)))
        self._packages = {package.stem: package.parent for package in search.packages}
        self._own = _package_of(Path(program.path))
        self._read = ModuleStore().read if search.store is None else search.store.read
        self._found: dict[tuple[str, Path], tuple[Module, str] | None] = {}

    def find(self, name: str, importer: Source) -> tuple[Module, str] | None:
        """The module that a dotted name begins with, and the rest of the name; None for the library's.

        ``name`` is as imports have it in ``importer``: ``helpers.fill``, ``~sub.fill`` for ``.sub.fill``.
        """
        key = name, Path(importer.path).parent
        if key not in self._found:
            *_, (file, rest) = [(None, ""), *self._search(name, key[1])]
            module = self.parsed(file) if file is not None else None
            self._found[key] = None if module is None else (module, rest)
        return self._found[key]

    def files(self, name: str, importer: Source) -> Iterator[Path]:
        """The files that Python reads to import a dotted name: those of its packages, then its own."""
        return (file for file, _ in self._search(name, Path(importer.path).parent))

    def source(self, file: Path) -> Source | None:
        """The text of a module; None where it is not readable."""
        return self._once(file)[0]

    def parsed(self, file: Path) -> Module | None:
        """The module in a file; None where it is no readable program, so that its code is not seen."""
        return self._once(file)[1]

    def _once(self, file: Path) -> tuple[Source | None, Module | None]:
        key = file.absolute()  # relative imports lead to a file by another path than others do
        if key not in self._read:
            self._read[key] = _read(file)
        return self._read[key]

    def _search(self, name: str, folder: Path) -> list[tuple[Path, str]]:
        """The files of the modules that a name leads through, outermost first, each with the rest of it.

        A package has precedence over a module of the same name, as for Python; a package without a file of
        its own has none here.
        """
        plain = name.lstrip("~")
        level = len(name) - len(plain)
        parts = [part for part in plain.split(".") if part]
        roots = self._roots if not level else tuple([folder, *folder.absolute().parents][level - 1 : level])
        if not level and parts and parts[0] in self._packages:
            roots = (*roots, self._packages[parts[0]])
        for root in roots:
            library = not parts or parts[0] not in (self._own, *self._packages)
            if not level and library and root.name in _INSTALLED:
                continue  # what is installed beside a package is a library, not a part of it
            found = []
            for length in range(0 if level else 1, len(parts) + 1):
                path = root.joinpath(*parts[:length])
                files = [path / "__init__.py", *([path.with_name(f"{path.name}.py")] if length else [])]
                file = next(filter(lookups.is_file, files), None)
                if file is not None:
                    found.append((file, ".".join(parts[length:])))
                if not lookups.is_directory(path) if file is None else file.name != "__init__.py":
                    break
            if found:
                return found
        return []


def own_roots(program: Path) -> tuple[Path, ...]:
    """The directory of a program, and the one that holds its outermost package; of a link, where it leads."""
    home = outermost = lookups.linked(program).parent
    while lookups.is_file(outermost / "__init__.py") and outermost != outermost.parent:
        outermost = outermost.parent
    return home, outermost


def _package_of(program: Path) -> str:
    """The name of the outermost package that a program is in; empty if it is in none."""
    home, outermost = own_roots(program)
    return "" if home == outermost else home.relative_to(outermost).parts[0]


def _read(file: Path) -> tuple[Source | None, Module | None]:
    source, problems = read_source(str(file))
    if problems:
        return None, None
    parsed = parse_module(source)
    return source, None if isinstance(parsed, Diagnostic) else parsed
