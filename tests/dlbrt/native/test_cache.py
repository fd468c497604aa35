"""Kernels are kept by all that they depend on, and found by other processes if they can be trusted."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

from dlbrt.native import cache, compiler
from dlbrt.native.compiler import compile_chunk

PROGRAM = """
import sys, numpy as np, dlbrt, dlbrt.native
from dlbrt.native import cache, compiler
FACTOR = {factor}
def scaled(x):
    return {body}
def chunk(first, last, step, Z):
    for i in range(first, last, step):
        Z[i] = dlbrt.native.np_exp(scaled(Z[i])) + dlbrt.native.power(Z[i], 2) + dlbrt.native.np_cbrt(Z[i])
    return last
def run(Z):
    return compiler.compile_chunk(chunk, (0, len(Z), 1, Z))(0, len(Z), 1, Z)
"""

#: Runs the program, and prints the result and whether the kernel was loaded.
MAIN = """
saved = []
keep = cache.KernelCache.save_overload
cache.KernelCache.save_overload = lambda *given: (saved.append(1), keep(*given))
Z = np.linspace(0, 1, 9)
run(Z)
print(Z.tobytes().hex(), "compiled" if saved else "loaded", "numba.np.linalg" in sys.modules)
"""


def _program(factor: float = 2.0, body: str = "x * FACTOR") -> str:
    return PROGRAM.format(factor=factor, body=body)


def _run(text: str) -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, "program.py", "exec", dont_inherit=True), space)
    compiler._of_key.clear()
    Z = np.linspace(0, 1, 9)
    space["run"](Z)
    space["result"] = Z.tobytes()
    return space


def _kernels() -> list[Path]:
    directory = cache.kernel_directory(os.environ)
    assert directory is not None
    return sorted(directory.glob("*")) if directory.exists() else []


def _start(text: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", text + MAIN], stdout=subprocess.PIPE, text=True)


def test_a_new_process_loads_what_another_has_compiled() -> None:
    expected = _run(_program())["result"].hex()
    (kernel,) = _kernels()
    assert kernel.stat().st_mode & 0o777 == 0o600
    output, _ = _start(_program()).communicate(timeout=120)
    assert output.split() == [expected, "loaded", "False"]  # and not all that numba can compile


@pytest.mark.parametrize(("symbols", "refreshed"), [(["malloc"], 0), (["malloc", "no_such_symbol"], 1)])
def test_numba_registers_all_that_it_can_compile_where_a_symbol_is_missing(
    symbols: list[str], refreshed: int
) -> None:
    _run(_program())
    calls: list[str] = []
    cache._define(symbols, SimpleNamespace(refresh=lambda: calls.append("refresh")))
    assert len(calls) == refreshed


def test_of_processes_that_start_at_once_one_compiles() -> None:
    outputs = [each.communicate(timeout=120)[0].split() for each in [_start(_program()) for _ in range(3)]]
    assert sorted(how for _, how, _ in outputs) == ["compiled", "loaded", "loaded"]
    assert len({result for result, _, _ in outputs}) == 1
    assert len(_kernels()) == 1


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (_program(), 1),
        ("\n\n\n" + _program(), 1),
        (_program(factor=3.0), 2),
        (_program(body="x + FACTOR"), 2),
        (_program(body="FACTOR * x"), 2),
        (_program().replace("range(first, last, step)", "range(first, last, 1)"), 2),
    ],
    ids=["the same", "elsewhere in the file", "a constant", "a called function", "its order", "the chunk"],
)
def test_a_kernel_is_found_if_nothing_has_changed_but_its_place(text: str, kept: int) -> None:
    _run(_program())
    _run(text)
    assert len(_kernels()) == kept


def test_types_layouts_and_options_have_kernels_of_their_own() -> None:
    chunk = _run(_program())["chunk"]
    read = np.ones((3, 2))[:, 0]
    compile_chunk(chunk, (0, 1, 1, read))
    compile_chunk(chunk, (0, 1, 1, np.ones(3)), python_division=True)
    assert len(_kernels()) == 3


def test_a_function_that_is_made_anew_is_not_compiled_anew() -> None:
    arguments = 0, 1, 1, np.ones(1)
    compiled = compile_chunk(_run(_program())["chunk"], arguments)
    space: dict[str, Any] = {"__name__": "program"}
    exec(compile(_program(), "program.py", "exec", dont_inherit=True), space)
    assert compile_chunk(space["chunk"], arguments) is compiled


def test_as_many_functions_are_remembered_as_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "_MOST", 2)
    table: dict[str, int] = {}
    for number, name in enumerate("abcb"):
        compiler._remember(table, name, number)
    assert table == {"b": 3, "c": 2}


def test_the_same_function_object_follows_its_globals() -> None:
    space = _run(_program())
    Z = np.ones(1)
    space["run"](Z)
    space["FACTOR"] = 0.0
    Z[:] = 1.0
    space["run"](Z)
    assert Z[0] == np.exp(0.0) + 1.0 + 1.0


def _damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-10] ^= 1
    path.write_bytes(content)


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def _replace(path: Path) -> None:
    path.write_bytes(b"something else")


def _rename(path: Path) -> None:
    _run(_program(factor=7.0))
    (other,) = (each for each in _kernels() if each != path)
    other.rename(path)


def _open_to_all(path: Path) -> None:
    path.chmod(0o666)


def _open_directory(path: Path) -> None:
    path.parent.chmod(0o777)


def _link(path: Path) -> None:
    path.rename(path.with_suffix(".moved"))
    path.symlink_to(path.with_suffix(".moved"))


@pytest.mark.parametrize(
    "spoil",
    [_damage, _truncate, _replace, _rename, _open_to_all, _open_directory, _link],
    ids=lambda f: f.__name__,
)
def test_a_file_that_cannot_be_trusted_is_compiled_anew(spoil: Callable[[Path], None]) -> None:
    expected = _run(_program())["result"]
    (kernel,) = _kernels()
    spoil(kernel)
    assert cache._read(kernel) is None
    assert _run(_program())["result"] == expected
    assert (cache._read(kernel) is None) == (spoil is _open_directory)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="users are known by number")
def test_another_users_file_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    _run(_program())
    (kernel,) = _kernels()
    assert cache._read(kernel) is not None
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(kernel).st_uid + 1)
    assert cache._read(kernel) is None


def test_what_has_not_been_used_for_longest_is_removed(tmp_path: Path) -> None:
    for age in range(4):
        (tmp_path / f"{age}.kernel").write_bytes(bytes(100))
        os.utime(tmp_path / f"{age}.kernel", (1000 - age, 1000 - age))
    cache._discard_oldest(tmp_path, most_bytes=250)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.kernel", "1.kernel"]


def test_nothing_is_kept_where_the_user_does_not_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DLB_KEEP", "0")
    assert cache.kernel_directory(os.environ) is None
    _run(_program())
    monkeypatch.delenv("DLB_KEEP")
    assert _kernels() == []


def test_a_directory_that_cannot_be_written_is_no_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert _run(_program())["result"]


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    hold = "import fcntl, os, sys; fcntl.flock(os.open(sys.argv[1], os.O_RDWR | os.O_CREAT), fcntl.LOCK_EX)"
    subprocess.run([sys.executable, "-c", hold, str(tmp_path / "k.lock")], check=True, timeout=60)
    with cache.KernelCache(tmp_path, "k").locked():
        assert (tmp_path / "k.lock").exists()
    assert list(tmp_path.iterdir()) == []


def test_only_the_kernels_own_symbols_are_seen_by_others() -> None:
    space = _run(_program(body="scaled(x - 1.0) if x > 1.0 else x * FACTOR"))
    compiled: Any = compile_chunk(space["chunk"], (0, 9, 1, np.zeros(9)))
    (key,) = compiler._of_key
    library = next(iter(compiled.overloads.values())).library
    seen = [
        function.name
        for function in library._final_module.functions
        if not function.is_declaration and function.linkage.name not in ("internal", "private")
    ]
    assert seen
    assert all(key in name for name in seen)
