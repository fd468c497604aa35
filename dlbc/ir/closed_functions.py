"""Functions of the module that are seen through: they look at arguments and plain values, and no more.

Calling one reaches nothing that it is not given, so that neither it nor what is around it need be at home;
and the summaries tell which of its arguments it may change.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from dlbc.ir.effects import FunctionSummaries, FunctionSummary
from dlbc.ir.plain import KindInference, ValueKind, dotted_name
from dlbc.ir.region import FunctionNode as Function
from dlbc.ir.region import ModuleNames
from dlbc.ir.scopes import BUILTINS
from dlbc.ir.uses import every_node, parameters_of
from dlbc.library.table import is_library, lookup, places_for_results

__all__ = ["ArgumentOnlyFunctions"]


class ArgumentOnlyFunctions:
    """Of one module; ``names`` gives the kind of a name of the module."""

    def __init__(
        self, module_names: ModuleNames, summaries: FunctionSummaries, names: Callable[[str], ValueKind]
    ) -> None:
        self._module_names, self._summaries, self._names = module_names, summaries, names
        self._values = KindInference(module_names, names)
        self._known: dict[str, bool] = {}

    def changed_arguments(self, call: ast.Call) -> tuple[frozenset[ast.expr], bool] | None:
        """The arguments that a call may change, and whether its result is new; None where more may happen."""
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if name not in self._module_names.functions or not self._is_closed(name):
            return None
        changed: set[ast.expr] = set()
        for function in self._module_names.functions[name]:
            changed |= _changed(call, function, self._summaries.of[function].mutated_parameters)
        return frozenset(changed), name in self._summaries.fresh

    def forget(self) -> None:
        """Look at functions anew: names are no longer what they were taken for."""
        self._known = {}

    def _is_closed(self, name: str) -> bool:
        if name not in self._known:
            functions = self._module_names.functions[name]
            sure = (
                name in self._module_names.constant
                and name not in self._module_names.implicit_calls.rebindable
            )
            reached = self._summaries.reachable(frozenset(functions)) if sure else frozenset()
            self._known[name] = sure and all(self._sees_through(f, reached) for f in reached)
        return self._known[name]

    def _sees_through(self, function: ast.AST, reached: frozenset[ast.AST]) -> bool:
        summary = self._summaries.of[function]
        assert isinstance(function, Function)
        quiet = not (summary.calls_values or summary.unseen or summary.rebinds or summary.mutated_shared)
        return quiet and self._is_plain_function(function) and self._reads_plain(summary, reached)

    def _is_plain_function(self, function: Function) -> bool:
        """Whether it runs when it is called, and keeps nothing from one call to the next."""
        marks = [] if isinstance(function, ast.Lambda) else function.decorator_list
        defaults = [*function.args.defaults, *(d for d in function.args.kw_defaults if d is not None)]
        if any(self._values.kind(d) is not ValueKind.SCALAR for d in defaults):
            return False
        if not all(
            dotted_name(_function_of(mark), self._module_names).startswith("numba.") for mark in marks
        ):
            return False  # what `functools.cache` gives back is kept
        return not any(map(self._is_opaque, every_node(function)))

    def _is_opaque(self, node: ast.AST) -> bool:
        """Whether something in a function lets it run later, reach what it does not name, or store unseen."""
        match node:
            case ast.Yield() | ast.YieldFrom() | ast.Await() | ast.Import() | ast.ImportFrom():
                return True
            case ast.Attribute():
                full = dotted_name(node, self._module_names)
                return bool(full) and not is_library(full)
            case ast.Name(id=name):
                return lookup(f"builtins.{name}").reflective
            case ast.Call():
                return self._stores_out(node) or self._hands_to_a_method(node)
        return False

    def _hands_to_a_method(self, call: ast.Call) -> bool:
        """Whether values go to a method of what is made here (`default_rng(1).shuffle(a)`), or as `self`."""
        if not isinstance(call.func, ast.Attribute):
            return False
        full = dotted_name(call.func, self._module_names)
        made = not full and isinstance(call.func.value, ast.Call)
        values = [*call.args, *(k.value for k in call.keywords)]
        given = any(not isinstance(value, ast.Constant) for value in values)
        return given and (made or full.startswith("numpy.ndarray."))

    def _stores_out(self, call: ast.Call) -> bool:
        """Whether a library's function may store into an argument that no keyword names."""
        stored = places_for_results(dotted_name(call.func, self._module_names), call)
        return any(not isinstance(a, ast.Constant | ast.Tuple) for a in stored)

    def _reads_plain(self, summary: FunctionSummary, reached: frozenset[ast.AST]) -> bool:
        module_names = self._module_names
        for name in summary.reads:
            inner = summary.owners.get(name)
            code = name in module_names.constant and (
                name in module_names.functions or name in module_names.classes
            )
            library = name in module_names.imports and is_library(module_names.imports[name])
            builtin = name in BUILTINS and module_names.builtin(name)
            if inner is not None and inner in reached:
                continue
            if not (code or library or builtin or self._names(name) is ValueKind.SCALAR):
                return False
        return True


def _function_of(mark: ast.expr) -> ast.expr:
    return mark.func if isinstance(mark, ast.Call) else mark


def _changed(call: ast.Call, function: Function, mutates: frozenset[str]) -> set[ast.expr]:
    """The arguments that go to parameters whose value the function may change."""
    if not mutates:
        return set()
    loose = function.args.vararg is not None or function.args.kwarg is not None
    loose = loose or any(isinstance(a, ast.Starred) for a in call.args)
    loose = loose or any(k.arg is None for k in call.keywords)
    if loose:
        return {*call.args, *(k.value for k in call.keywords)}
    names = [p.arg for p in parameters_of(function)]
    found = {node for name, node in zip(names, call.args, strict=False) if name in mutates}
    return found | {k.value for k in call.keywords if k.arg in mutates}
