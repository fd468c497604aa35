"""Find what may catch the exceptions of statements: handlers, and managers that may swallow them.

Law: what iterations contribute is put together when they have run, where their handlers are left behind. A
contribution that may fail must not stand where the program would have caught its failure.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Mapping

from dlbc.ir.region import ModuleNames

__all__ = ["EVERYTHING", "catchers", "caught_exceptions", "propagates_exceptions"]

#: Context managers that surely let exceptions through, by the last part of their name.
_PLAIN_MANAGERS = frozenset(
    [
        "open",
        "errstate",
        "catch_warnings",
        "printoptions",
        "localcontext",
        "closing",
        "nullcontext",
        "Lock",
        "RLock",
        "TemporaryDirectory",
        "NamedTemporaryFile",
        "TemporaryFile",
        "redirect_stdout",
        "redirect_stderr",
    ]
)

#: What stands for a handler that takes any exception.
EVERYTHING = "BaseException"

Catcher = ast.expr | None
Catchers = tuple[Catcher, ...]


def propagates_exceptions(manager: ast.expr) -> bool:
    """Whether a context manager surely lets exceptions through."""
    return isinstance(manager, ast.Call) and ast.unparse(manager.func).split(".")[-1] in _PLAIN_MANAGERS


def catchers(body: Iterable[ast.stmt]) -> Mapping[ast.stmt, Catchers]:
    """For each statement the types that what stands around it may catch; None is any."""
    return dict(_around(body, ()))


def _around(body: Iterable[ast.stmt], outer: Catchers) -> Iterator[tuple[ast.stmt, Catchers]]:
    for node in body:
        yield node, outer
        match node:
            case ast.Try() | ast.TryStar():
                leaving = any(isinstance(n, ast.Break | ast.Continue | ast.Return) for s in node.finalbody
                              for n in ast.walk(s))  # fmt: skip
                dropped: Catchers = (None,) if leaving else ()
                types = tuple(handler.type for handler in node.handlers)
                yield from _around(node.body, (*outer, *types, *dropped))
                for handler in node.handlers:
                    yield from _around(handler.body, (*outer, *dropped))
                yield from _around(node.orelse, (*outer, *dropped))
                yield from _around(node.finalbody, outer)
            case ast.With() | ast.AsyncWith():
                held = (c for item in node.items for c in _swallowed(item.context_expr))
                yield from _around(node.body, (*outer, *held))
            case ast.Match():
                for case in node.cases:
                    yield from _around(case.body, outer)
            case ast.If() | ast.For() | ast.AsyncFor() | ast.While():
                yield from _around([*node.body, *node.orelse], outer)


def _swallowed(manager: ast.expr) -> Catchers:
    if propagates_exceptions(manager):
        return ()
    if isinstance(manager, ast.Call) and ast.unparse(manager.func).split(".")[-1] == "suppress":
        return tuple(manager.args)
    return (None,)


def caught_exceptions(kinds: Iterable[Catcher], module_names: ModuleNames) -> Iterator[str]:
    """Names of the builtin exceptions among those types; `EVERYTHING` for what is no class that can be seen.

    Classes of the module and of imported ones are taken for what no operator of a builtin type raises.
    """
    for kind in kinds:
        if isinstance(kind, ast.Tuple):
            yield from caught_exceptions(kind.elts, module_names)
            continue
        text = EVERYTHING if kind is None else ast.unparse(kind)
        root = text.partition(".")[0]
        known = root in module_names.imports or root in module_names.classes
        if not known:
            yield text if hasattr(builtins, text) and module_names.builtin(text) else EVERYTHING
