"""Statements of a module that do more than import, define, and give names values.

Where a program starts the runtime in a module that it imports, what stands before that import runs on every
rank. Statements that nobody sees may; others, found here by their text alone, may not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

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

_DEFINITIONS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Pass)


def visible_effects(statements: Iterable[ast.stmt], end: int) -> Iterator[int]:
    """The lines of statements before line ``end`` that do more than import and define.

    The one that holds line ``end`` is under way: of a block its beginning counts, a call has led here.
    """
    for statement in statements:
        if statement.lineno > end or isinstance(statement, _DEFINITIONS):
            continue
        if isinstance(statement, ast.If | ast.Try):
            yield from () if _is_main_guard(statement, end) else visible_effects(_within(statement), end)
        elif not _is_harmless(statement):
            yield statement.lineno


def _within(block: ast.If | ast.Try) -> Sequence[ast.stmt]:
    if isinstance(block, ast.If):
        return [*block.body, *block.orelse]
    handled = (statement for handler in block.handlers for statement in handler.body)
    return [*block.body, *handled, *block.orelse, *block.finalbody]


def _is_main_guard(block: ast.stmt, end: int) -> bool:
    """Whether it is ``if __name__ == "__main__":``, and not what is under way."""
    under_way = block.lineno <= end <= (block.end_lineno or block.lineno)
    return isinstance(block, ast.If) and "__name__" in ast.dump(block.test) and not under_way


def _is_harmless(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return ast.unparse(statement.value.func).startswith(_HARMLESS_CALLS)
    if not isinstance(
        statement, ast.Expr | ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Delete | ast.Assert
    ):
        return False
    calls = (node.func for node in ast.walk(statement) if isinstance(node, ast.Call))
    names = (f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "") for f in calls)
    return _SEEN_CALLS.isdisjoint(names)
