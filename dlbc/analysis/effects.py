"""Effects beyond the values of a call: what one call does by itself, and what functions do in sum."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import field

from dlbrt.records import dataclass

from dlbc.analysis.uses import unparsed
from dlbc.ir.access import CallSite, Origins
from dlbc.library.row import EffectKind
from dlbc.library.table import lookup, works_in_place

#: A node with a place.
Node = ast.expr | ast.stmt | ast.excepthandler


#: What a function touches where it changes something that may have come from anywhere.
NOT_ITS_OWN = "an object it did not make"

#: Effects on the world outside, whatever they are applied to.
EXTERNAL_EFFECTS = frozenset({EffectKind.FILE, EffectKind.INPUT, EffectKind.RANDOM, EffectKind.OBJECT})


@dataclass(frozen=True)
class SideEffect:
    """One effect of one call: on objects of these origins (empty for effects on the world outside)."""

    effect: EffectKind
    node: ast.Call
    function: str
    origins: Origins = frozenset()


@dataclass(frozen=True)
class FunctionSummary:
    """What calling a function may do, callees included as far as parameters go.

    ``calls_values``: a call in it that may reach any function handed about. ``unseen``: calls by the text of
    what they run, where that cannot be seen. ``prints``: writes to standard output. ``owners``: for names of
    enclosing functions, the function. ``closed``: only calls by name reach it and its siblings, all of them
    within the function around, whose own facts hold what it does to that one's names.
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
    prints: bool = False
    owners: Mapping[str, ast.AST] = field(default_factory=dict)
    called_by_name_only: bool = False


@dataclass(frozen=True)
class FunctionSummaries:
    """Of all functions of the module; ``fresh`` names those whose results are always new, ``passing`` those
    whose results are at most parts of their arguments."""

    of: Mapping[ast.AST, FunctionSummary]
    fresh: frozenset[str]
    returns_argument_parts: frozenset[str] = frozenset()

    def reachable(self, roots: frozenset[ast.AST]) -> frozenset[ast.AST]:
        """The functions that calling any of ``roots`` may call, themselves included."""
        found, waiting = set(roots), list(roots)
        while waiting:
            for callee in self.of[waiting.pop()].mentions - found:
                found.add(callee)
                waiting.append(callee)
        return frozenset(found)


def direct_side_effects(call: CallSite) -> Iterator[SideEffect]:
    """What the tables say of a call."""
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
    elif row.effect is not None:
        yield SideEffect(row.effect, node, name.removeprefix("builtins."))
    elif _of_object(call):
        yield SideEffect(EffectKind.OBJECT, node, name)
    first = len(call.arguments) if row.out_at is None else row.out_at
    over = works_in_place(name, node)
    for key, value, _ in call.arguments:
        if key == "out" or over or (isinstance(key, int) and key >= first):
            yield SideEffect(
                EffectKind.ARGUMENT, node, name.removeprefix("."), value.points_to | value.reachable
            )


def writes_output(call: CallSite) -> bool:
    """Whether it writes to standard output, as far as the tables say."""
    return lookup(call.function).prints and not any(key in ("file", "stream") for key, _, _ in call.arguments)


def _of_object(call: CallSite) -> bool:
    """Whether it is a changing method of an object of another module: ``sys.path.append``."""
    package, _, method = call.function.rpartition(".")
    if not package or package.startswith(("numpy", "scipy", "builtins")):
        return False
    parts = unparsed(call.node.func).count(".")
    row = lookup(f".{method}")
    return row.effect in (EffectKind.MUTATE, EffectKind.ORDERED) and (
        parts > 1 or (parts == 1 and row.distinct)
    )


def _printed_to_a_file(call: CallSite) -> Iterator[SideEffect]:
    for key, value, node in call.arguments:
        if key in ("file", "stream", "**") and value.points_to and not unparsed(node).endswith("stderr"):
            yield SideEffect(EffectKind.FILE, call.node, call.function.removeprefix("builtins."))


def _saves_as_text(name: str, node: ast.Call) -> bool:
    """Whether a table is written to a file; without one its text is the result."""
    given = bool(node.args) or any(k.arg in ("path_or_buf", None) for k in node.keywords)
    return name.endswith((".to_csv", ".to_json")) and given


def _opens_for_writing(node: ast.Call) -> bool:
    modes = [*node.args[1:2], *(k.value for k in node.keywords if k.arg == "mode")]
    if not modes:
        return any(k.arg is None for k in node.keywords)
    mode = modes[0]
    return not (isinstance(mode, ast.Constant) and isinstance(mode.value, str)) or bool(
        set(mode.value) & set("wax+")
    )
