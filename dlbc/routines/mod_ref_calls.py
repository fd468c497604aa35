"""Mod/ref analysis of calls: what a call may look into and change of its callee, receiver and arguments.

A call may look into and change everything that it can reach (itself, the object that it is called on, its
arguments), unless a table says less or the callee is an argument-only function of the module. Such a function
(LLVM: ``memory(argmem)``) uses its arguments and plain values alone, so neither the function nor anything
around it need be valid at rank 0; its summary says which arguments it may change.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from dlbrt.records import dataclass

from dlbc.analysis.callees import callbacks_of, decorators_of
from dlbc.analysis.effects import FunctionSummaries, FunctionSummary
from dlbc.analysis.names import BUILTINS, full_name
from dlbc.analysis.uses import every_node, parameters_of
from dlbc.ir.region import FunctionNode, ModuleNames
from dlbc.ir.routine import ModRef
from dlbc.library.row import EffectKind, Reads, ResultKind
from dlbc.library.table import (
    is_library,
    is_new,
    is_place_for_result,
    lookup,
    only_reads,
    places_for_results,
    works_in_place,
)
from dlbc.routines.value_kinds import KEPT_OUT, READING, KindInference, ValueKind

#: Functions and methods whose names end like this fill their arguments: `readinto`, `pack_into`.
_FILLERS = ("into", "readv")


@dataclass(frozen=True, slots=True)
class ArgumentModRef:
    """What is done to one argument; ``escapes``: the function may pass it on, to its result or elsewhere."""

    node: ast.expr
    mod_ref: ModRef
    escapes: bool


@dataclass(frozen=True, slots=True)
class CallModRef:
    """What a call does; ``callee`` stands for the function or, of a method, for its receiver."""

    callee: ModRef
    arguments: tuple[ArgumentModRef, ...]
    unseen: bool = False


@dataclass(frozen=True)
class CallRules:
    """The rules for calls, given what names stand for.

    ``container``: whether an expression surely is a list, set, dictionary or deque. ``changed_arguments``:
    for a call of an argument-only function, the arguments that it may change; None for any other call.
    """

    module: ModuleNames
    values: KindInference
    container: Callable[[ast.expr], bool]
    changed_arguments: Callable[[ast.Call], tuple[frozenset[ast.expr], bool] | None]

    def mod_ref(self, call: ast.Call, mod_ref: ModRef) -> CallModRef:
        """What the call does if ``mod_ref`` is done to its result."""
        name = full_name(call.func, self.module)
        if name and is_library(name):
            return self._library(call, name, mod_ref)
        seen = self.changed_arguments(call)
        if seen is not None:
            changed, fresh = seen
            least = ModRef.REF if fresh else max(ModRef.REF, mod_ref)
            given = ((a, ModRef.MOD if a in changed else least) for a in _given(call))
            return CallModRef(ModRef.NONE, tuple(ArgumentModRef(a, m, not fresh) for a, m in given))
        if name or not isinstance(call.func, ast.Attribute):
            return _unseen(call)
        return self._method(call, call.func, mod_ref)

    def _library(self, call: ast.Call, name: str, mod_ref: ModRef) -> CallModRef:
        row = lookup(name)
        if row.reflective:
            return CallModRef(ModRef.MOD, _all(call, ModRef.REF), unseen=True)
        own_len = name == "builtins.len" and "__len__" in self.module.methods
        if row.reads in (Reads.FORM, Reads.LIKE) and not own_len:
            form = set(call.args if name == "builtins.isinstance" else call.args[:1])
            given = ((a, ModRef.NONE if a in form else ModRef.REF) for a in _given(call))
            return CallModRef(ModRef.NONE, tuple(ArgumentModRef(a, m, escapes=False) for a, m in given))
        if row.calls is not None:
            return CallModRef(ModRef.NONE, tuple(self._higher(call, name, mod_ref)))
        stored = set(self._stored(call, name))
        if is_new(name, call) and not any(k.arg in KEPT_OUT for k in call.keywords):
            return CallModRef(ModRef.NONE, _except(call, stored, ModRef.REF, kept=False))
        if only_reads(name):
            return CallModRef(ModRef.NONE, _except(call, stored, max(ModRef.REF, mod_ref), kept=True))
        return CallModRef(ModRef.NONE, _all(call, ModRef.MOD), unseen=True)

    def _stored(self, call: ast.Call, name: str) -> Iterator[ast.expr]:
        """The arguments that a library's function stores into."""
        if _stores_first(name) or name.startswith("numpy.ndarray."):
            at = lookup(name).stores_at or 0
            yield from call.args[at : at + 1] or _given(call)  # by keyword: `np.copyto(dst=u, src=v)`
        else:
            yield from (a for a in places_for_results(name, call) if not self.values.is_scalar(a))
        yield from (k.value for k in call.keywords if is_place_for_result(name, k.arg or "**"))
        if works_in_place(name, call) or name.endswith(_FILLERS):
            yield from _given(call)

    def _higher(self, call: ast.Call, name: str, mod_ref: ModRef) -> Iterator[ArgumentModRef]:
        """The functions among the arguments are called; they may do anything to the other arguments."""
        functions = callbacks_of(call, name)
        harmless = all(map(self._only_reads, functions))
        others = max(ModRef.REF, mod_ref) if harmless else ModRef.MOD
        for node in _given(call):
            yield ArgumentModRef(node, ModRef.MOD if node in functions else others, escapes=True)

    def _only_reads(self, function: ast.expr) -> bool:
        if isinstance(function, ast.Lambda):
            return not any(isinstance(n, ast.Call | ast.NamedExpr) for n in ast.walk(function))
        name = full_name(function, self.module)
        return bool(name) and is_library(name) and not _stores_first(name)

    def _method(self, call: ast.Call, func: ast.Attribute, mod_ref: ModRef) -> CallModRef:
        receiver, method = func.value, func.attr
        if method in self.module.methods or self._is_type(receiver):
            return _unseen(call)
        row = lookup(f".{method}")
        shuffled = set(call.args[:1]) if row.shuffles else set()  # what a random generator reorders
        stored = {k.value for k in call.keywords if k.arg == "out"}
        most = max(ModRef.REF, mod_ref)
        if self.values.is_scalar(receiver):
            filled = set(_given(call)) if method.endswith(_FILLERS) else stored | shuffled
            filled |= set(places_for_results(f".{method}", call))
            return CallModRef(
                ModRef.NONE, _except(call, filled, most if row.picks else ModRef.REF, kept=row.picks)
            )
        if row.moves_only and self.container(receiver):
            return CallModRef(mod_ref, _all(call, ModRef.NONE))
        first = 1 if row.out_at is None else min(1, row.out_at)
        stored |= {a for a in call.args[first:] if not self.values.is_scalar(a)}
        if method in READING:
            return CallModRef(ModRef.REF, _except(call, stored, ModRef.REF, kept=False))
        if row.is_reader or row.result in (ResultKind.SAME, ResultKind.HOLDER):
            return CallModRef(most, _except(call, stored, most, kept=True))
        if row.effect is EffectKind.DRAW:
            return CallModRef(ModRef.MOD, _except(call, stored | shuffled, most, kept=True))
        if row.effect in (EffectKind.MUTATE, EffectKind.ORDERED) and not row.sends:
            return CallModRef(ModRef.MOD, _all(call, ModRef.REF))
        return _unseen(call)

    def _is_type(self, receiver: ast.expr) -> bool:
        """Whether a method is called as a function of its type: ``list.sort(xs)``."""
        name = full_name(receiver, self.module) if isinstance(receiver, ast.Name) else ""
        return name.startswith("builtins.")


def _stores_first(name: str) -> bool:
    """Whether the function stores into its first argument, or gives access to it that is not followed."""
    row = lookup(name)
    return row.stores or row.result is ResultKind.HANDLE


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(k.value for k in call.keywords)]


def _all(call: ast.Call, mod_ref: ModRef, kept: bool = True) -> tuple[ArgumentModRef, ...]:
    return tuple(ArgumentModRef(node, mod_ref, kept) for node in _given(call))


def _except(call: ast.Call, stored: set[ast.expr], mod_ref: ModRef, kept: bool) -> tuple[ArgumentModRef, ...]:
    """The same for all arguments, except those that are stored into."""
    given = ((node, node in stored) for node in _given(call))
    return tuple(ArgumentModRef(node, ModRef.MOD if to else mod_ref, kept or to) for node, to in given)


def _unseen(call: ast.Call) -> CallModRef:
    return CallModRef(ModRef.MOD, _all(call, ModRef.MOD), unseen=True)


class ArgumentOnlyFunctions:
    """Those of one module; ``names`` gives the kind of a name of the module."""

    def __init__(
        self, module: ModuleNames, summaries: FunctionSummaries, names: Callable[[str], ValueKind]
    ) -> None:
        self._module, self._summaries, self._names = module, summaries, names
        self._values = KindInference(module, names)
        self._known: dict[str, bool] = {}

    def changed_arguments(self, call: ast.Call) -> tuple[frozenset[ast.expr], bool] | None:
        """The arguments that a call may change, and whether its result is new; None if it may do more."""
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        if name not in self._module.functions or not self._is_argument_only(name):
            return None
        changed: set[ast.expr] = set()
        for function in self._module.functions[name]:
            changed |= _changed(call, function, self._summaries.of[function].mutated_parameters)
        return frozenset(changed), name in self._summaries.fresh

    def forget(self) -> None:
        """Drop the results: the kinds of names have changed."""
        self._known = {}

    def _is_argument_only(self, name: str) -> bool:
        if name not in self._known:
            module = self._module
            sure = name in module.constant and name not in module.implicit_calls.rebindable
            functions = frozenset[ast.AST](module.functions[name])
            reached = self._summaries.reachable(functions) if sure else frozenset()
            self._known[name] = sure and all(self._uses_arguments_only(f, reached) for f in reached)
        return self._known[name]

    def _uses_arguments_only(self, function: ast.AST, reached: frozenset[ast.AST]) -> bool:
        summary = self._summaries.of[function]
        assert isinstance(function, FunctionNode)
        quiet = not (summary.calls_values or summary.unseen or summary.rebinds or summary.mutated_shared)
        return quiet and self._is_plain_function(function) and self._reads_plain(summary, reached)

    def _is_plain_function(self, function: FunctionNode) -> bool:
        """Whether it runs when it is called, and keeps nothing from one call to the next."""
        defaults = [*function.args.defaults, *(d for d in function.args.kw_defaults if d is not None)]
        if not all(map(self._values.is_scalar, defaults)):
            return False
        decorators = [d.func if isinstance(d, ast.Call) else d for d in decorators_of(function)]
        if not all(full_name(d, self._module).startswith("numba.") for d in decorators):
            return False  # `functools.cache`, for instance, keeps results
        return not any(map(self._is_opaque, every_node(function)))

    def _is_opaque(self, node: ast.AST) -> bool:
        """Whether a node lets a function run later, reach what it does not name, or store out of sight."""
        match node:
            case ast.Yield() | ast.YieldFrom() | ast.Await() | ast.Import() | ast.ImportFrom():
                return True
            case ast.Attribute():
                full = full_name(node, self._module)
                return bool(full) and not is_library(full)
            case ast.Name(id=name):
                return lookup(f"builtins.{name}").reflective
            case ast.Call():
                return self._stores_out(node) or self._hands_to_a_method(node)
        return False

    def _hands_to_a_method(self, call: ast.Call) -> bool:
        """Whether values go to a method of a new object (`default_rng(1).shuffle(a)`), or as `self`."""
        if not isinstance(call.func, ast.Attribute):
            return False
        full = full_name(call.func, self._module)
        made = not full and isinstance(call.func.value, ast.Call)
        given = any(not isinstance(value, ast.Constant) for value in _given(call))
        return given and (made or full.startswith("numpy.ndarray."))

    def _stores_out(self, call: ast.Call) -> bool:
        """Whether a library's function may store into an argument that no keyword names."""
        stored = places_for_results(full_name(call.func, self._module), call)
        return any(not isinstance(a, ast.Constant | ast.Tuple) for a in stored)

    def _reads_plain(self, summary: FunctionSummary, reached: frozenset[ast.AST]) -> bool:
        module = self._module
        for name in summary.reads:
            if summary.owners.get(name) in reached:
                continue
            defined = name in module.functions or name in module.classes
            code = defined and name in module.constant
            library = name in module.imports and is_library(module.imports[name])
            builtin = name in BUILTINS and module.builtin(name)
            if not (code or library or builtin or self._names(name) is ValueKind.SCALAR):
                return False
        return True


def _changed(call: ast.Call, function: FunctionNode, mutates: frozenset[str]) -> set[ast.expr]:
    """The arguments that go to parameters whose value the function may change."""
    if not mutates:
        return set()
    starred = function.args.vararg is not None or function.args.kwarg is not None
    starred = starred or any(isinstance(a, ast.Starred) for a in call.args)
    if starred or any(k.arg is None for k in call.keywords):
        return set(_given(call))
    names = [p.arg for p in parameters_of(function)]
    changed = {node for name, node in zip(names, call.args, strict=False) if name in mutates}
    return changed | {k.value for k in call.keywords if k.arg in mutates}
