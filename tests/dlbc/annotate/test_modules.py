"""Files of installed packages, and modules that several files of one command share."""

from __future__ import annotations

from pathlib import Path

from dlbc.commands.annotate.proposals import find_proposals
from dlbc.parse.find_modules import ModuleFinder, ModuleStore, SearchPath
from dlbc.parse.read_source import read_source
from dlbc.source import Source

LOOP = "from .helper import f\nimport other\n\ndef g(A, n):\n    for i in range(n):\n        A[i] = f(i)\n"


def package(folder: Path) -> Source:
    """A package in a folder, beside another one."""
    for name in ("mine", "other"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("")
    (folder / "mine" / "helper.py").write_text("def f(i):\n    return 2 * i\n")
    (folder / "mine" / "program.py").write_text(LOOP)
    return read_source(str(folder / "mine" / "program.py"))[0]


def test_what_is_installed_beside_a_package_is_no_part_of_it(tmp_path: Path) -> None:
    installed = package(tmp_path / "site-packages")
    finder = ModuleFinder(installed, SearchPath())
    assert finder.find("mine.helper.f", installed) is not None
    assert finder.find("~helper.f", installed) is not None
    assert finder.find("other", installed) is None


def test_what_lies_beside_a_package_elsewhere_belongs_to_the_program(tmp_path: Path) -> None:
    source = package(tmp_path / "project")
    assert ModuleFinder(source, SearchPath()).find("other", source) is not None


def test_an_installed_package_that_is_followed_is_read(tmp_path: Path) -> None:
    installed = package(tmp_path / "site-packages")
    followed = SearchPath(packages=(tmp_path / "site-packages" / "other",))
    assert ModuleFinder(installed, followed).find("other", installed) is not None


def test_a_module_is_read_and_surveyed_once_for_all_files(tmp_path: Path) -> None:
    source = package(tmp_path / "project")
    store = ModuleStore()
    alone = find_proposals(source, SearchPath())
    first = find_proposals(source, SearchPath(store=store))
    read, surveyed = dict(store.read), dict(store.surveyed)
    assert {file.name for file in read} >= {"helper.py"}
    assert {Path(file).name for file in surveyed} >= {"helper.py"}
    again = find_proposals(source, SearchPath(store=store))
    assert all(store.surveyed[path] is module for path, module in surveyed.items())
    lines = [[(p.line, p.text) for p in found.proposals] for found in (alone, first, again)]
    assert lines == [lines[0]] * 3
