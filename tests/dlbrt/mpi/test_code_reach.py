"""Which names the code of iterations may use: by calls, by methods, by objects among the arguments."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dlbrt.mpi.values import program_modules
from dlbrt.mpi.values.code_reach import names_used

TEXT = """
import functools
A = 1
table = {"f": lambda i: by_table}
def kernel(dlb, n): return direct(n)
def direct(n): return used_directly + indirect(n)
def indirect(n): return used_indirectly
def unused(n): return A
class Base:
    def inherited(self): return by_base
class Thing(Base):
    def __add__(self, other): return by_operator
    @property
    def cut(self): return by_property
    @staticmethod
    def plain(): return by_static_method
def decorated(f):
    @functools.wraps(f)
    def around(n): return f(n)
    return around
@decorated
def wrapped(n): return by_wrapped
def kernel_of_tables(dlb, i): return table["f"](i)
def kernel_of_attributes(dlb, m): return m.indirect(1)
def kernel_by_text(dlb, m): return texts(m)
def texts(m): return getattr(m, "A")
"""


@pytest.fixture(name="module")
def make_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    module = types.ModuleType("__main__")
    module.__file__ = str(tmp_path / "prog.py")
    exec(TEXT, module.__dict__)
    monkeypatch.setitem(sys.modules, "__main__", module)
    program_modules._own_names.cache_clear()
    yield module
    program_modules._own_names.cache_clear()


def used(module: Any, kernel: str, *arguments: Any) -> set[str]:
    found = names_used(getattr(module, kernel), arguments)
    assert found is not None
    return {name for name in found if name.startswith(("used_", "by_")) or name == "A"}


def test_by_calls(module: Any) -> None:
    assert used(module, "kernel", 3) == {"used_directly", "used_indirectly"}


def test_by_a_table_of_functions(module: Any) -> None:
    assert used(module, "kernel_of_tables", 3) == {"by_table"}


def test_an_attribute_is_taken_by_its_name(module: Any) -> None:
    assert used(module, "kernel_of_attributes", object()) == {"used_indirectly"}


@pytest.mark.parametrize(
    "hold",
    [
        lambda t: t,
        lambda t: [[t]],
        lambda t: {1: t},
        lambda t: functools.partial(print, t),
        lambda t: t.inherited,
    ],
    ids=["itself", "lists", "dict", "partial", "method"],
)
def test_by_methods_of_what_is_among_the_arguments(module: Any, hold: Any) -> None:
    names = {"by_base", "by_operator", "by_property", "by_static_method"}
    assert names <= used(module, "kernel", hold(module.Thing()))


def test_by_decorated_functions(module: Any) -> None:
    assert "by_wrapped" in used(module, "kernel", module.wrapped)


def test_code_that_looks_up_texts_may_use_any(module: Any) -> None:
    assert names_used(module.kernel_by_text, [module]) is None


def test_too_many_objects_are_not_looked_at(module: Any) -> None:
    assert names_used(module.kernel, [[object() for _ in range(20_000)]]) is None
