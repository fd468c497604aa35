"""What a worker imports while it waits for the first loop."""

from __future__ import annotations

import ast
import sys
import types
from pathlib import Path

import pytest
from dlbrt.mpi.early_imports import LibraryImport, import_early, needed_imports
from dlbrt.mpi.values import program_modules

LOOP = "for i in range(3):\n    f(a, b.c)\n"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import a\n" + LOOP, [LibraryImport("a")]),
        ("import a.sub\n" + LOOP, [LibraryImport("a.sub")]),
        ("import x.y as b\n" + LOOP, [LibraryImport("x.y")]),
        (
            "'doc'\nfrom __future__ import division\nfrom x import f, g\n" + LOOP,
            [LibraryImport("x", ("f", "g"))],
        ),
        ("import dlbrt\ndlb = dlbrt.start(MPI.COMM_WORLD)\nimport a\n" + LOOP, [LibraryImport("a")]),
        ("import a\ndef g():\n    return a.b\nfor i in range(3):\n    g()\n", [LibraryImport("a")]),
        (
            "import a\nclass C:\n def go(self):\n  a.b()\nfor c in cs:\n c.go()\n",
            [LibraryImport("a")],
        ),
        ("import a\ndef run():\n    for i in range(3):\n        a.b()\n", [LibraryImport("a")]),
        # What nothing names that may be part of a loop, and what comes after other statements.
        ("import a\na.go()\n", []),
        ("import a\ndef plot():\n    a.show()\nplot()\n", []),
        ("import os\nos.environ['X'] = '1'\nimport a\n" + LOOP, []),
        ("from . import a\n" + LOOP, []),
        ("try:\n    import a\nexcept ImportError:\n    pass\n" + LOOP, []),
        ("if True:\n    import a\n" + LOOP, []),
    ],
)
def test_the_imports_that_loops_need(text: str, found: list[LibraryImport]) -> None:
    assert list(needed_imports(ast.parse(text))) == found


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of installed packages; the program is beside it."""
    (library := tmp_path / "site-packages").mkdir()
    monkeypatch.syspath_prepend(str(library))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(tmp_path / "main.py"), raising=False)
    before = set(sys.modules)
    yield library
    for name in set(sys.modules) - before:
        del sys.modules[name]


def run(library: Path, program: str) -> list[str]:
    """The test's modules that are imported then."""
    (library.parent / "main.py").write_text(program)
    import_early()
    return sorted(name for name in sys.modules if name.startswith("early_"))


def test_installed_modules_are_imported(library: Path) -> None:
    (library / "early_one.py").touch()
    (library / "early_two").mkdir()
    (library / "early_two" / "__init__.py").touch()
    (library / "early_two" / "part.py").touch()
    names = "import early_one as a\nfrom early_two import part as f\n"
    assert run(library, names + LOOP) == ["early_one", "early_two", "early_two.part"]


def test_the_program_s_own_modules_are_not_nor_what_comes_after_them(library: Path) -> None:
    (library / "early_one.py").touch()
    (library.parent / "early_own.py").write_text("raise AssertionError\n")
    assert run(library, "import early_own as a\nimport early_one as b\n" + LOOP) == []


def test_a_package_that_belongs_to_the_program_is_one_of_its_own(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (library / "early_one.py").touch()
    monkeypatch.setattr(program_modules, "_named_roots", [str(library)])
    assert run(library, "import early_one as a\n" + LOOP) == []


@pytest.mark.parametrize(
    "failure", ["raise ValueError", "import sys; sys.exit(3)", "import nowhere", "x = ("]
)
def test_an_import_that_fails_is_left_for_later(failure: str, library: Path) -> None:
    (library / "early_one.py").write_text(failure + "\n")
    assert run(library, "import early_one as a\n" + LOOP) == []


@pytest.mark.parametrize("text", ["x = (", "import nowhere as a\n" + LOOP])
def test_a_program_that_is_not_understood_imports_nothing(text: str, library: Path) -> None:
    assert run(library, text) == []
