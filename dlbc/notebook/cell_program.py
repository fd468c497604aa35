"""The program of a cell: what the cell needs of the notebook, as statements before its own.

Imports and functions of earlier cells stand there as text, so that the compiler sees them; the values of
all other names come from a file. A function stands as text only if its text says all that it is.
"""

from __future__ import annotations

import ast
import copy
import inspect
import io
import linecache
import re
import sys
import textwrap
import types
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from dlbrt.cell import module_state
from dlbrt.cell.objects import views_of, walk
from dlbrt.cell.pickles import CellPickler, names_of, unpicklable, write
from dlbrt.cell.variables import VARIABLES

from dlbc.source import Source


class CannotSendError(Exception):
    """A variable of the notebook cannot go to the ranks; the message names it."""


class CellSource(Source):
    """The program of a cell; lines are those of the cell, of which the magic is the first."""

    def in_cell(self, line: int) -> tuple[int, int]:
        """2 and the line in the cell; 1 and the line for what stands before the cell."""
        cell, inside = super().in_cell(line)
        return cell, inside + (cell > 1)

    def line_name(self, line: int) -> str:
        """A line as people read it."""
        cell, inside = self.in_cell(line)
        return f"line {inside}" if cell > 1 else f"line {inside} of what the cell needs"

    def named(self, text: str) -> str:
        """A text that names lines of the program, with those of the cell; its file is there no longer."""
        text = re.sub(r"; see dlbc explain \S*\bcell\.py", "", text)
        calls = re.compile(r"(?<=what dlbc has not seen: ).*")
        text = calls.sub(lambda found: re.sub(r"(?<= in )line (\d+)", self._of_cell, found[0]), text)
        return re.sub(r"\bcell\.py:(\d+)", lambda found: f"cell, {self._of_cell(found)}", text)

    def _of_cell(self, found: re.Match[str]) -> str:
        return self.line_name(int(found[1]))

    def position(self, place: Any) -> str:
        """The place in the cell."""
        if not place.line:
            return "cell"
        name = self.line_name(place.line)
        return f"cell, {name}:{place.column}" if self.in_cell(place.line)[0] > 1 else name


@dataclass(frozen=True)
class CellProgram:
    """The program of a cell; ``values`` are sent, ``by_name`` are functions that stand in its text.

    ``defines`` are the functions and classes that the cell itself defines, ``definitions`` their statements,
    after imports from the future.
    """

    text: str
    lines_before: int
    values: dict[str, Any]
    by_name: tuple[str, ...]
    defines: tuple[str, ...]
    definitions: tuple[ast.stmt, ...]

    @classmethod
    def of(cls, cell: str, namespace: dict[str, Any]) -> CellProgram:
        """The program of a cell over a namespace. SyntaxError if the cell is not Python alone."""
        tree = ast.parse(cell)
        functions, values, imports = _needed(tree, namespace)
        before = [*imports, *functions.values()]
        before += [_binding(name, values[name]) for name in sorted(values)]
        lines = cell.rstrip("\n").split("\n")
        futures = [each for each in tree.body if _is_future(each) and _stands_alone(each, lines)]
        head = "\n".join([*map(ast.unparse, futures), *before, f"{VARIABLES}.begin()", ""])
        definitions = tuple(
            each
            for each in tree.body
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        )
        defines = tuple(dict.fromkeys(each.name for each in definitions))
        # A notebook may look at any name that the cell leaves.
        reads = "try:\n    {}\nexcept NameError:\n    pass\n"
        tail = "".join(reads.format(name) for name in sorted(_bound(tree)))
        for each in futures:  # they have to come first
            lines[each.lineno - 1 : each.end_lineno] = [""] * ((each.end_lineno or 0) - each.lineno + 1)
        text = head + "\n".join(lines) + "\n" + tail
        before_all = (*futures, *definitions)
        return cls(text, head.count("\n"), values, tuple(functions), defines, before_all)

    def source(self, path: Path) -> CellSource:
        """It as the compiler reads it."""
        return CellSource(str(path), self.text.encode(), self.text, cells=(1, self.lines_before + 1))

    def write(self, file: Path, namespace: dict[str, Any]) -> list[Any]:
        """Write the values; the objects that are sent, by their numbers. CannotSendError."""
        order = walk(self.values[name] for name in sorted(self.values))
        views = _views_among(self.values)
        for name, value in self.values.items():
            if problem := unpicklable(value, namespace, self.by_name):
                raise CannotSendError(f"the variable {name} cannot go to the ranks ({problem})")
        write(file, (self.values, order), namespace, self.by_name, views=views)
        write(file.with_name("modules"), module_state.capture(), namespace, self.by_name)
        return order

    def define(self, names: list[str], namespace: dict[str, Any], path: Path) -> None:
        """Define in the notebook the functions and classes of these names as the cell does."""
        lines = self.text.splitlines(keepends=True)
        linecache.cache[str(path)] = (len(self.text), None, lines, str(path))  # for `inspect.getsource`
        for statement in self.definitions:
            if getattr(statement, "name", "") not in names:
                continue
            module = ast.Module([*filter(_is_future, self.definitions), copy.deepcopy(statement)], [])
            ast.increment_lineno(module, self.lines_before)
            exec(compile(module, str(path), "exec"), namespace)


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _stands_alone(statement: ast.stmt, lines: Sequence[str]) -> bool:
    """Whether nothing else stands in the lines of a statement."""
    own = lines[statement.lineno - 1 : statement.end_lineno]
    return len(ast.parse("\n".join(own)).body) == 1


def _binding(name: str, value: Any) -> str:
    """The statement that binds a variable; the text of one for a dictionary shows that it is one."""
    is_dictionary = type(value) in (dict, defaultdict, Counter, OrderedDict)
    return f'{name} = {VARIABLES}.dict("{name}")' if is_dictionary else f'{name} = {VARIABLES}["{name}"]'


def _bound(tree: ast.Module) -> set[str]:
    """The names that the cell binds outside of functions, classes and comprehensions."""
    found: set[str] = set()
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        if not isinstance(
            node,
            ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | ast.ListComp
            | ast.SetComp | ast.DictComp | ast.GeneratorExp,
        ):  # fmt: skip
            waiting += ast.iter_child_nodes(node)
    return found


def _needed(tree: ast.Module, namespace: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any], list[str]]:
    """Functions with their text, values, and imports, by which the cell finds all that it may read."""
    functions: dict[str, str] = {}
    values: dict[str, Any] = {}
    imports: list[str] = []
    waiting = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen or name not in namespace or name.startswith("__"):
            continue
        seen.add(name)
        value = namespace[name]
        if statement := _import_of(name, value):
            imports.append(statement)
        elif text := _text_of(name, value, namespace):
            functions[name] = text
            waiting += names_of(value.__code__)
        else:
            values[name] = value
            waiting += _names_in(value, namespace)
    return functions, values, sorted(imports)


def _import_of(name: str, value: Any) -> str:
    """The statement that imports a value; empty if none does."""
    if isinstance(value, types.ModuleType):
        return f"import {value.__name__} as {name}" if value.__name__ in sys.modules else ""
    module, own = getattr(value, "__module__", None), getattr(value, "__name__", None)
    named = isinstance(value, types.FunctionType | types.BuiltinFunctionType | type)
    if not named or not isinstance(module, str) or module in ("__main__", "builtins"):
        return ""
    found = getattr(sys.modules.get(module), str(own), None)
    return f"from {module} import {own} as {name}" if found is value else ""


def _text_of(name: str, value: Any, namespace: Mapping[str, Any]) -> str:
    """The text of a function of the notebook, if it says all that the function is; else empty."""
    if not isinstance(value, types.FunctionType) or value.__globals__ is not namespace:
        return ""
    if value.__closure__ or vars(value) or value.__name__ != name or value.__qualname__ != name:
        return ""
    try:
        text = textwrap.dedent(inspect.getsource(value))
        tree = ast.parse(text)
    except (OSError, TypeError, SyntaxError):
        return ""
    function = tree.body[0]
    if len(tree.body) != 1 or not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return ""
    defaults = [*function.args.defaults, *(each for each in function.args.kw_defaults if each)]
    if not all(isinstance(each, ast.Constant) for each in defaults):
        return ""
    same = _same_code(text, name, value)
    given = [each.value for each in function.args.defaults if isinstance(each, ast.Constant)]
    return text.rstrip() if same and list(value.__defaults__ or ()) == given else ""


def _same_code(text: str, name: str, function: types.FunctionType) -> bool:
    """Whether the text is that of the function: a cell may have been edited since it ran."""
    compiled = compile(text, function.__code__.co_filename, "exec", dont_inherit=True)
    codes = [each for each in compiled.co_consts if isinstance(each, types.CodeType) and each.co_name == name]
    return any(_essence(each) == _essence(function.__code__) for each in codes)


def _essence(code: types.CodeType) -> tuple[Any, ...]:
    constants = tuple(
        _essence(each) if isinstance(each, types.CodeType) else (type(each), repr(each))
        for each in code.co_consts
    )
    return code.co_code, code.co_names, code.co_varnames, constants


def _names_in(value: Any, namespace: Mapping[str, Any]) -> set[str]:
    """The names that the notebook's functions inside a value look for."""
    pickler = CellPickler(io.BytesIO(), namespace, buffer_callback=lambda _: None)
    try:
        pickler.dump(value)
    except Exception:  # values' own hooks may raise anything; that it cannot be sent is said when it is sent
        return set()
    return pickler.wanted


def _views_among(values: Mapping[str, Any]) -> dict[int, tuple[Any, int]]:
    """The arrays that are parts of others (`views_of`); CannotSendError where some share memory otherwise."""
    arrays = [each for each in walk(values[name] for name in sorted(values)) if type(each) is np.ndarray]
    views, mixed = views_of(arrays, ())
    if mixed:
        names = [name for name in sorted(values) if not mixed.isdisjoint(map(id, walk([values[name]])))]
        raise CannotSendError(
            f"arrays of {' and '.join(names)} share memory with others, which copies on the ranks would not; "
            "use one of them, or a copy"
        )
    return views
