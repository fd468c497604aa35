"""Code of generated text has the file, lines and columns of its source."""

from __future__ import annotations

import ast
import dis
import inspect
import traceback
import types
from pathlib import Path

import pytest
from dlbrt.observe.relocate import relocated_code

from dlbc.pipeline import transform
from dlbc.source import Source

TEXT = '''\
"""A program."""

import numpy as np


def scaled(x):
    # before the loop
    out = np.zeros(len(x))
    # dlb: parallel, BLOCK
    for i in range(len(x)):
        y = 2.0 * x[i]
        out[i] = y / (
            x[i]
            - 3
        )
    return out


class Grid:
    def fails(self):
        return 1 / 0
'''


@pytest.fixture(name="path")
def make_path(tmp_path: Path) -> Path:
    path = tmp_path / "prog.py"
    path.write_text(TEXT)
    return path


def code_of(path: Path) -> types.CodeType:
    generated = transform(Source(str(path), path.read_bytes(), path.read_text())).text
    assert generated is not None
    return relocated_code(generated, str(path))


def functions(code: types.CodeType) -> dict[str, types.CodeType]:
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return {each.co_name: each for each in inner}


def positions(code: types.CodeType) -> set[tuple[int, int]]:
    """The lines and columns of names and attributes in code, in terms of the source."""
    return {(p[0], p[2]) for p in code.co_positions() if p[0] is not None and p[2] is not None}


def test_every_function_is_where_its_source_is(path: Path) -> None:
    found = functions(code_of(path))
    tree = ast.parse(TEXT)
    lines = {node.name: node.lineno for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert {name: found[name].co_firstlineno for name in lines} == lines
    assert {each.co_filename for each in found.values()} == {str(path)}
    assert (
        inspect.getsource(found["scaled"])
        == TEXT[TEXT.index("def scaled") : TEXT.index("class")].rstrip() + "\n"
    )


def test_the_body_of_a_loop_keeps_lines_and_columns(path: Path) -> None:
    kernel = functions(code_of(path))["_dlb_loop_1"]
    sequential = functions(compile(TEXT, str(path), "exec"))["scaled"]
    body = {place for place in positions(sequential) if place[0] > 10 and place[0] < 16}
    assert body
    assert body <= positions(kernel)
    assert kernel.co_firstlineno == 10


def test_what_the_compiler_adds_is_at_the_loop(path: Path) -> None:
    scaled = functions(code_of(path))["scaled"]
    assert {line for _, _, line in scaled.co_lines()} == {6, 8, 10, 16}


def test_what_checks_a_loop_stands_at_its_line(tmp_path: Path) -> None:
    path = tmp_path / "last.py"
    path.write_text("A = [0] * 9\n# dlb: parallel\nfor i in range(9):\n    A[i] = 1 / i\nprint(i)\n")
    lines = {line for _, _, line in code_of(path).co_lines() if line}
    assert lines >= {1, 3, 5}
    raised = [each for each in dis.get_instructions(code_of(path)) if each.argval == "check"]
    assert [each.positions and each.positions.lineno for each in raised] == [3]


def test_compiled_functions_stand_at_the_lines_of_their_loops(tmp_path: Path) -> None:
    path = tmp_path / "jitted.py"
    body = "    s = {}\n    # halved\n    A[i] = s * 0.5\n"
    loops = [f"# dlb: parallel, jit\nfor i in range(9):\n{body.format(start)}" for start in ("i", "i + 1")]
    path.write_text(f"import numpy as np\nA = np.zeros(9)\n{loops[0]}s = 0\n{loops[1]}print(s)\n")
    found = functions(code_of(path))
    first, second = found["_dlb_chunk_1"], found["_dlb_chunk_2"]
    assert {line for _, _, line in first.co_lines()} == {4, 5, 7}
    assert {line for _, _, line in second.co_lines()} == {10, 11, 13}


def test_an_exception_shows_the_source(path: Path) -> None:
    # Only the class: importing the runtime's start would need MPI.
    code = functions(code_of(path))["Grid"]
    names: dict[str, object] = {"__name__": "prog"}
    exec(code, names)
    with pytest.raises(ZeroDivisionError) as caught:
        names["fails"](None)  # type: ignore[operator]
    shown = "".join(traceback.format_exception(caught.value)[-2:])
    assert f'File "{path}", line 21, in fails' in shown
    assert "return 1 / 0" in shown
