"""Statements of a module that do more than import, define, and give names values.

Where a program starts the runtime in a module that it imports, what stands before that import runs on every
rank. Statements that nobody sees may; others, found here by their text alone, may not.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence, Set

#: What calls begin with that set up this process, which nobody else sees.
_HARMLESS_CALLS = (
    "sys.path.", "sys.setrecursionlimit", "os.environ.", "warnings.", "logging.", "locale.", "faulthandler.",
    "np.random.", "np.set", "np.errstate", "numpy.random.", "numpy.set", "random.seed",
    "matplotlib.use", "matplotlib.rc", "mpl.use", "mpl.rc", "plt.style.", "plt.rc", "plt.switch_backend",
)  # fmt: skip

#: Functions and methods that read what can be read once, or that other processes see.
_SEEN_CALLS = frozenset({
    "input", "open", "print", "read", "readline", "readlines", "write", "writelines", "mkdir", "makedirs",
    "system", "Popen", "run", "check_call", "check_output", "unlink", "remove", "rmtree", "rename",
})  # fmt: skip

#: Those that a function of the module is looked through for; one that only reads a file may run everywhere.
_SEEN_IN_FUNCTIONS = frozenset({
    "input", "print", "stdin", "write", "writelines",
    "system", "Popen", "check_call", "check_output", "unlink", "rmtree", "rename",
})  # fmt: skip

_DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.Pass)

#: Methods that making an object calls.
_MAKING = ("__init__", "__new__", "__post_init__")


def visible_effects(statements: Sequence[ast.stmt], end: int) -> Iterator[int]:
    """The lines of statements of a module before line ``end`` that do more than import and define.

    The one that holds line ``end`` is under way: of a block its beginning counts, a call has led here. Where
    ``end`` is `sys.maxsize`, all of the module has run, as one that is imported.
    """
    return _effects(statements, end, _seen_functions(statements))


def _effects(statements: Sequence[ast.stmt], end: int, seen: Set[str]) -> Iterator[int]:
    for statement in statements:
        if statement.lineno > end or isinstance(statement, _DEFINITIONS):
            continue
        if isinstance(statement, ast.If | ast.Try | ast.ClassDef):
            if isinstance(statement, ast.If) and _calls_seen(statement.test, seen):
                yield statement.lineno
            elif not (end == sys.maxsize and _is_main_guard(statement)):
                yield from _effects(_within(statement), end, seen)
        elif not _is_harmless(statement, seen):
            yield statement.lineno


def _within(block: ast.If | ast.Try | ast.ClassDef) -> Sequence[ast.stmt]:
    if isinstance(block, ast.ClassDef):
        return block.body
    if isinstance(block, ast.If):
        return [*block.body, *block.orelse]
    handled = (statement for handler in block.handlers for statement in handler.body)
    return [*block.body, *handled, *block.orelse, *block.finalbody]


def _is_main_guard(block: ast.stmt) -> bool:
    """Whether it is ``if __name__ == "__main__":``."""
    return isinstance(block, ast.If) and "__name__" in ast.dump(block.test)


def _is_harmless(statement: ast.stmt, seen: Set[str]) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return ast.unparse(statement.value.func).startswith(_HARMLESS_CALLS)
    plain = ast.Expr | ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Delete | ast.Assert
    return isinstance(statement, plain) and not _calls_seen(statement, seen)


def _calls_seen(node: ast.AST, seen: Set[str]) -> bool:
    """Whether it calls what others see, or a function or class among those ``seen``."""
    called = [each.func for each in ast.walk(node) if isinstance(each, ast.Call)]
    names = {f.id for f in called if isinstance(f, ast.Name)}
    methods = {f.attr for f in called if isinstance(f, ast.Attribute)}
    return not (_SEEN_CALLS.isdisjoint(names | methods) and seen.isdisjoint(names))


def _seen_functions(statements: Sequence[ast.stmt]) -> Set[str]:
    """The functions of the module, and the classes, by calling which something happens that others see."""
    mentioned: dict[str, set[str]] = {}
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                mentioned.setdefault(node.name, set()).update(_names_in(node))
            elif isinstance(node, ast.ClassDef):
                making = (each for each in node.body if getattr(each, "name", "") in _MAKING)
                mentioned.setdefault(node.name, set()).update(*map(_names_in, making))
    seen = set(_SEEN_IN_FUNCTIONS)
    while more := {name for name, names in mentioned.items() if name not in seen and names & seen}:
        seen |= more
    return seen & mentioned.keys()


def _names_in(code: ast.AST) -> Iterator[str]:
    for node in ast.walk(code):
        if isinstance(node, ast.Name | ast.Attribute):
            yield node.id if isinstance(node, ast.Name) else node.attr
