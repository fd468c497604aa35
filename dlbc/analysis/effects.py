"""Side effects: those of a single call, and the summary of what calling a function may do.

Theory: interprocedural mod/ref summaries (Banning 1979; Cooper and Torczon, chapter 9).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import field

from dlbrt.records import dataclass

from dlbc.analysis.uses import Node as Node
from dlbc.analysis.uses import unparsed
from dlbc.ir.access import CallSite, Origins
from dlbc.library.row import EffectKind
from dlbc.library.table import is_place_for_result, lookup, works_in_place

#: Stands for the object where a function changes something that may have come from anywhere.
NOT_ITS_OWN = "an object it did not make"

#: Effects on the outside world, whatever they are applied to.
EXTERNAL_EFFECTS = frozenset({EffectKind.FILE, EffectKind.INPUT, EffectKind.RANDOM, EffectKind.OBJECT})


@dataclass(frozen=True)
class SideEffect:
    """One effect of one call, on objects of these origins (empty for effects on the outside world)."""

    effect: EffectKind
    node: ast.Call
    function: str
    origins: Origins = frozenset()


@dataclass(frozen=True)
class FunctionSummary:
    """What calling a function may do; effects on parameters include those of its callees.

    ``calls_values``: a call in it that may reach any function passed as a value. ``unseen``: calls whose code
    cannot be seen, by the text of the callee; ``watched``: those, and calls of which the library table may
    say too little. ``prints``: it writes to standard output. ``owners``: the enclosing function that each
    outer name belongs to. ``called_by_name_only``: only calls by name reach it and its siblings, all of them
    within the enclosing function, whose own facts include what it does to the names of that function.
    """

    node: ast.AST
    name: str
    mutated_parameters: frozenset[str] = frozenset()
    mutated_shared: Mapping[str, Node] = field(default_factory=dict)
    rebinds: Mapping[str, Node] = field(default_factory=dict)
    reads: Mapping[str, Node] = field(default_factory=dict)
    attributes: frozenset[str] = frozenset()
    mentions: frozenset[ast.AST] = frozenset()
    side_effects: tuple[SideEffect, ...] = ()
    calls_values: ast.Call | None = None
    unseen: Mapping[str, Node] = field(default_factory=dict)
    watched: Mapping[str, Node] = field(default_factory=dict)
    prints: bool = False
    owners: Mapping[str, ast.AST] = field(default_factory=dict)
    called_by_name_only: bool = False

    @property
    def has_effects(self) -> bool:
        """Whether it may do more than give a value."""
        changes = self.mutated_parameters or self.mutated_shared or self.rebinds or self.side_effects
        return bool(changes or self.prints or self.watched or self.calls_values)


@dataclass(frozen=True)
class FunctionSummaries:
    """The summaries of all functions of the module.

    ``fresh``: names of functions whose results are always new objects. ``returns_argument_parts``: names of
    functions whose results are new or parts of their arguments.
    """

    of: Mapping[ast.AST, FunctionSummary]
    fresh: frozenset[str]
    returns_argument_parts: frozenset[str] = frozenset()

    def reachable(self, roots: frozenset[ast.AST]) -> frozenset[ast.AST]:
        """The functions that calling any of ``roots`` may call, including ``roots``."""
        reached, waiting = set(roots), list(roots)
        while waiting:
            callees = self.of[waiting.pop()].mentions - reached
            reached |= callees
            waiting += callees
        return frozenset(reached)


def direct_side_effects(call: CallSite) -> Iterator[SideEffect]:
    """The effects of a call that the tables of known calls give."""
    name, node = call.function, call.node
    row = lookup(name)
    saves = lookup("." + name.rpartition(".")[2])
    if row.prints:  # standard output is kept in iteration order
        yield from _printed_to_a_file(call)
    elif name == "builtins.open":
        if _opens_for_writing(node):
            yield SideEffect(EffectKind.FILE, node, "open")
    elif (saves.effect is EffectKind.FILE and saves.distinct) or _saves_as_text(name, node):
        yield SideEffect(EffectKind.FILE, node, name.removeprefix("."))
    elif row.stores_at is not None and row.effect is None:
        for _, value, _ in call.arguments[row.stores_at : row.stores_at + 1]:
            yield SideEffect(EffectKind.ARGUMENT, node, name.removeprefix("."), value.points_to)
    elif name.startswith("."):
        if row.effect is not None and call.receiver is not None and call.receiver.points_to:
            yield SideEffect(row.effect, node, name[1:], call.receiver.points_to)
        for _, value, _ in call.arguments[: 1 if row.shuffles else 0]:
            yield SideEffect(EffectKind.ARGUMENT, node, name[1:], value.points_to)
    elif row.effect is not None:
        yield SideEffect(row.effect, node, name.removeprefix("builtins."))
    elif _of_object(call):
        yield SideEffect(EffectKind.OBJECT, node, name)
    over = works_in_place(name, node)
    for key, value, _ in call.arguments:
        if over or is_place_for_result(name, key):
            changed = value.points_to | value.reachable
            yield SideEffect(EffectKind.ARGUMENT, node, name.removeprefix("."), changed)


def writes_output(call: CallSite) -> bool:
    """Whether the tables say that a call writes to standard output."""
    return lookup(call.function).prints and not any(key in ("file", "stream") for key, _, _ in call.arguments)


def _of_object(call: CallSite) -> bool:
    """Whether a call is a method that changes an object of another module: ``sys.path.append``."""
    package, _, method = call.function.rpartition(".")
    if not package or package.startswith(("numpy", "scipy", "builtins")):
        return False
    parts = unparsed(call.node.func).count(".")
    row = lookup(f".{method}")
    changes = row.effect in (EffectKind.MUTATE, EffectKind.ORDERED)
    return changes and (parts > 1 or (parts == 1 and row.distinct))


def _printed_to_a_file(call: CallSite) -> Iterator[SideEffect]:
    for key, value, node in call.arguments:
        if key in ("file", "stream", "**") and value.points_to and not unparsed(node).endswith("stderr"):
            yield SideEffect(EffectKind.FILE, call.node, call.function.removeprefix("builtins."))


def _saves_as_text(name: str, node: ast.Call) -> bool:
    """Whether a table is written to a file; without a file its text is the result."""
    given = bool(node.args) or any(k.arg in ("path_or_buf", None) for k in node.keywords)
    return name.endswith((".to_csv", ".to_json")) and given


def _opens_for_writing(node: ast.Call) -> bool:
    modes = [*node.args[1:2], *(k.value for k in node.keywords if k.arg == "mode")]
    if not modes:
        return any(k.arg is None for k in node.keywords)
    match modes[0]:
        case ast.Constant(value=str(mode)):
            return bool(set(mode) & set("wax+"))
    return True
