"""What was compiled is kept between runs: it counts as long as compiling again would give the same."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dlbc.commands import compile_program, kept_programs
from dlbc.commands.kept_programs import Compilation, Request, WholeProgram
from dlbc.commands.program import read_program
from dlbc.parse import lookups

MAIN = """\
import helper

try:
    import extra
except ImportError:
    pass

A = [0] * 9
# dlb: parallel, BLOCK
for i in range(9):
    A[i] = helper.twice(i)
print(A)
"""
HELPER = "def twice(i):\n    return 2 * i\n"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of kept programs; the program is in the current directory."""
    folder = tmp_path / "program"
    folder.mkdir()
    (folder / "main.py").write_text(MAIN)
    (folder / "helper.py").write_text(HELPER)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "dlb" / "programs"


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """The requests for which the compiler was called."""
    seen: list[Request] = []
    compiled = compile_program._compiled
    monkeypatch.setattr(
        compile_program, "_compiled", lambda request: seen.append(request) or compiled(request)
    )
    return seen


def read(file: str = "main.py", *, strict: bool = False) -> tuple[WholeProgram | None, int]:
    options = argparse.Namespace(file=file, module="", package=[], follow=[], strict=strict)
    return read_program(options)


def test_a_second_run_compiles_nothing(cache: Path, compilations: list[Request]) -> None:
    first, second = read(), read()
    assert len(compilations) == 1
    assert first == second
    assert first[0] is not None
    assert b"dlbrt" in first[0].generated[0][1]
    assert len(list(cache.iterdir())) == 1


def _add_loop() -> None:
    Path("helper.py").write_text(HELPER + MAIN.replace("import helper", "").replace("helper.", ""))


def _link() -> None:
    Path("sub").mkdir()
    Path("main.py").rename("sub/main.py")
    Path("main.py").symlink_to("sub/main.py")


#: What makes the compilation another one, by what happens.
CHANGES: dict[str, Callable[[], object]] = {
    "the program is edited": lambda: Path("main.py").write_text(MAIN.replace("9", "8")),
    "a module is edited": _add_loop,
    "a module is gone": lambda: Path("helper.py").unlink(),
    "a package takes the place of a module": lambda: (
        Path("helper").mkdir() or Path("helper/__init__.py").write_text(HELPER)
    ),
    "a module that was looked for appears": lambda: Path("extra.py").write_text(HELPER),
    "a compiled module hides an annotated one": lambda: Path("main.abi3.so").touch(),
    "Cython source appears": lambda: Path("other.pyx").touch(),
    "the program becomes a link": _link,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_seen(change: Callable[[], object], cache: Path, compilations: list[Request]) -> None:
    read()
    change()
    program, _ = read()
    assert len(compilations) == 2
    assert compile_program._compiled(compilations[-1]).program == program


def test_options_and_directories_are_kept_apart(
    cache: Path, compilations: list[Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    read()
    read(strict=True)
    monkeypatch.chdir(cache)
    read("../../../program/main.py")
    assert len(compilations) == 3
    assert len([path for path in cache.iterdir() if path.suffix == ".json"]) == 3


def test_a_program_named_by_its_whole_path_is_one_from_any_directory(
    cache: Path, compilations: list[Request], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = Path("main.py").absolute()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        read(str(program))
    assert len(compilations) == 1


@pytest.mark.parametrize("what", ["compiler", "package"])
def test_another_version_is_another_program(
    what: str, cache: Path, compilations: list[Request], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read()
    if what == "compiler":
        files = list(kept_programs._compiler_files())
        assert {"pipeline.py", "contract.py", "call.py.j2"} <= {Path(path).name for path, *_ in files}
        monkeypatch.setattr(kept_programs, "_compiler_files", lambda: iter(files[1:]))
    else:
        (tmp_path / "z3_solver-99.dist-info").mkdir()
        monkeypatch.syspath_prepend(str(tmp_path))
    read()
    assert len(compilations) == 2


@pytest.mark.parametrize("damage", ["empty", "truncated", "other text", "no JSON", "another user's"])
def test_a_damaged_file_is_ignored_and_replaced(
    damage: str, cache: Path, compilations: list[Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = read()
    (file,) = cache.iterdir()
    whole = file.read_bytes()
    body = b'{"asked": []}'
    texts = {
        "empty": b"",
        "truncated": whole[: len(whole) // 2],
        "other text": whole.replace(b"twice", b"thrice"),
        "no JSON": kept_programs._digest(body).encode() + b"\n" + body,
    }
    file.write_bytes(texts.get(damage, whole))
    with monkeypatch.context() as other:
        if damage == "another user's":
            other.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)
        assert read() == first
    assert len(compilations) == 2
    assert read() == first
    assert len(compilations) == 2


def test_errors_are_not_kept(cache: Path, compilations: list[Request]) -> None:
    Path("main.py").write_text(MAIN.replace("A[i]", "A[0]"))
    assert read()[1] == read()[1] == 1
    assert len(compilations) == 2
    assert not cache.exists()


def test_warnings_are_shown_again(
    cache: Path, compilations: list[Request], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("main.py").write_text(
        MAIN + "if False:\n    # dlb: parallel\n    for i in range(9):\n        A[i] = i\n"
    )
    read()
    first = capsys.readouterr()
    read()
    assert len(compilations) == 1
    assert "DLB506" in first.err
    assert capsys.readouterr() == first


def test_nothing_is_kept_where_the_user_says_so(
    cache: Path, compilations: list[Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(kept_programs.KEEP, "0")
    assert read() == read()
    assert len(compilations) == 2
    assert not cache.exists()


def test_a_cache_that_cannot_be_written_does_no_harm(cache: Path, compilations: list[Request]) -> None:
    cache.parent.parent.write_text("a file, where a directory is needed")
    assert read() == read()
    assert len(compilations) == 2


def test_what_was_not_used_for_longest_is_removed(
    cache: Path, compilations: list[Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_programs, "_MOST_FILES", 2)
    for name in ("a.py", "b.py", "c.py"):
        Path(name).write_text(MAIN)
    read("a.py")
    read("b.py")
    for age, file in enumerate(sorted(cache.iterdir(), key=lambda path: path.stat().st_mtime_ns)):
        os.utime(file, (1000 + age, 1000 + age))
    read("a.py")  # from here on the older of the two is b.py
    read("c.py")
    assert len(list(cache.iterdir())) == 2
    read("a.py")
    read("c.py")
    assert [request.path.name for request in compilations] == ["a.py", "b.py", "c.py"]


def test_a_file_that_changes_while_it_is_compiled_is_not_relied_upon(cache: Path) -> None:
    with lookups.recording() as asked:
        lookups.read(Path("main.py"))
        Path("main.py").write_text(HELPER)
        lookups.read(Path("main.py"))
    assert not lookups.unchanged(asked)


def test_all_files_that_are_read_are_noted(cache: Path) -> None:
    """An audit hook sees every file that is opened."""
    script = (
        "import sys, pathlib; from dlbc.commands import compile_program as c, kept_programs as k\n"
        "from dlbc.parse.lookups import recording\n"
        "opened = set(); sys.addaudithook(lambda e, a: opened.add(str(a[0])) if e in ('open', 'os.listdir', "
        "'os.scandir') else None)\n"
        "request = k.Request(pathlib.Path('main.py'), '', (), (), False)\n"
        "with recording() as asked:\n"
        "    assert c._compiled(request).program\n"
        "here = str(pathlib.Path.cwd())\n"
        "own = {str(pathlib.Path(p).absolute()) for p in opened if p.endswith('.py')}\n"
        "noted = {str(pathlib.Path(p).absolute()) for _, p in asked}\n"
        "assert {p for p in own if p.startswith(here)} <= noted, own - noted\n"
        "assert any(p.endswith('helper.py') for p in noted)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_a_program_from_a_pipe_is_not_read_twice(cache: Path) -> None:
    os.mkfifo("pipe")
    request = Request(Path("pipe"), "", (), (), False)
    assert kept_programs._place(request, os.environ) is None


def test_what_is_kept_is_what_was_compiled(cache: Path) -> None:
    request = Request(Path("main.py"), "", (), (), False)
    compiled = compile_program.compile_program(request)
    assert isinstance(compiled, Compilation)
    assert kept_programs.find(request, os.environ) == compiled
