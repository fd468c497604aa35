"""Effects beyond the values of a call: what one call does by itself, and what functions do in sum."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import Enum

from dlbrt.records import dataclass

from dlbc.ir.access import Call, Origins
from dlbc.ir.known_calls import (
    DRAWS,
    FILE_METHODS,
    FILE_SAVERS,
    FILE_WRITERS,
    GENERATORS,
    IN_PLACE_AT,
    MUTATORS,
    NUMPY_IN_PLACE,
    ORDERED,
    OUT_AT,
    PRINTERS,  # fmt: skip
    RANDOM_PACKAGES,
)
from dlbc.ir.uses import unparsed

__all__ = ["NOT_ITS_OWN", "Deed", "Effect", "Summaries", "Summary", "direct_deeds", "writes_output"]


#: A node with a place.
Node = ast.expr | ast.stmt | ast.excepthandler


class Effect(Enum):
    """Kinds of effects; the value is the diagnostic that refuses it."""

    FILE = "DLB402"
    INPUT = "DLB403"
    RANDOM = "DLB404"
    DRAW = "DLB405"
    ORDERED = "DLB406"
    MUTATE = "DLB407"
    ARGUMENT = "DLB410"
    OBJECT = "DLB422"


#: Methods of containers whose names are no functions of modules.
_SURE_METHODS = frozenset(
    ["append", "extend", "appendleft", "popleft", "popitem", "setdefault", "clear", "pop"]
)

#: What a function touches where it changes something that may have come from anywhere.
NOT_ITS_OWN = "an object it did not make"

#: Effects on the world outside, whatever they are applied to.
OUTWARD = frozenset({Effect.FILE, Effect.INPUT, Effect.RANDOM, Effect.OBJECT})


@dataclass(frozen=True)
class Deed:
    """One effect of one call: on objects of these origins (empty for effects on the world outside)."""

    effect: Effect
    node: ast.Call
    function: str
    origins: Origins = frozenset()


@dataclass(frozen=True)
class Summary:
    """What calling a function may do, callees included as far as parameters go.

    ``calls_values``: a call in it that may reach any function handed about. ``unseen``: calls by the text of
    what they run, where that cannot be seen. ``prints``: writes to standard output. ``owners``: for names of
    enclosing functions, the function. ``closed``: only calls by name reach it and its siblings, all of them
    within the function around, whose own facts hold what it does to that one's names.
    """

    node: ast.AST
    name: str
    mutates: frozenset[str] = frozenset()
    touches: Mapping[str, Node] = field(default_factory=dict)
    rebinds: Mapping[str, Node] = field(default_factory=dict)
    reads: Mapping[str, Node] = field(default_factory=dict)
    attributes: frozenset[str] = frozenset()
    mentions: frozenset[ast.AST] = frozenset()
    deeds: tuple[Deed, ...] = ()
    calls_values: ast.Call | None = None
    unseen: Mapping[str, Node] = field(default_factory=dict)
    prints: bool = False
    owners: Mapping[str, ast.AST] = field(default_factory=dict)
    closed: bool = False


@dataclass(frozen=True)
class Summaries:
    """Of all functions of the module; ``fresh`` names those whose results are always new, ``passing`` those
    whose results are at most parts of their arguments."""

    of: Mapping[ast.AST, Summary]
    fresh: frozenset[str]
    passing: frozenset[str] = frozenset()

    def reachable(self, roots: frozenset[ast.AST]) -> frozenset[ast.AST]:
        """The functions that calling any of ``roots`` may call, themselves included."""
        found, waiting = set(roots), list(roots)
        while waiting:
            for callee in self.of[waiting.pop()].mentions - found:
                found.add(callee)
                waiting.append(callee)
        return frozenset(found)


def direct_deeds(call: Call) -> Iterator[Deed]:
    """What the tables say of a call."""
    name, node = call.function, call.node
    if name in PRINTERS:  # standard output is kept in iteration order
        yield from _printed_to_a_file(call)
    elif name == "builtins.open":
        if _opens_for_writing(node):
            yield Deed(Effect.FILE, node, "open")
    elif name in FILE_WRITERS or name.rpartition(".")[2] in FILE_SAVERS or _saves_as_text(name, node):
        yield Deed(Effect.FILE, node, name.removeprefix("."))
    elif name == "builtins.input":
        yield Deed(Effect.INPUT, node, "input")
    elif name.startswith(RANDOM_PACKAGES) and name not in GENERATORS:
        yield Deed(Effect.RANDOM, node, name)
    elif name in NUMPY_IN_PLACE and call.arguments:
        yield Deed(Effect.ARGUMENT, node, name, call.arguments[0][1].outer)
    elif name.startswith(".") and call.receiver is not None and call.receiver.outer:
        families = ((Effect.ORDERED, ORDERED), (Effect.MUTATE, MUTATORS), (Effect.FILE, FILE_METHODS),
                    (Effect.DRAW, DRAWS))  # fmt: skip
        for effect, family in families:
            if name[1:] in family:
                yield Deed(effect, node, name[1:], call.receiver.outer)
                break
    elif _of_object(call):
        yield Deed(Effect.OBJECT, node, name)
    first = OUT_AT.get(name, len(call.arguments))
    over = _works_in_place(call)
    for key, value, _ in call.arguments:
        if key == "out" or over or (isinstance(key, int) and key >= first):
            yield Deed(Effect.ARGUMENT, node, name.removeprefix("."), value.outer | value.inner)


def _works_in_place(call: Call) -> bool:
    """Whether a switch tells a function to work in the memory of its arguments."""
    last = IN_PLACE_AT.get(call.function, len(call.arguments))
    for key, _, node in call.arguments:
        if key == "copy" and call.function in IN_PLACE_AT:
            off = True
        elif key == last:
            off = call.function == "numpy.nan_to_num"
        elif isinstance(key, str) and key.startswith("overwrite"):
            off = False
        else:
            continue
        if not (isinstance(node, ast.Constant) and node.value is off):
            return True
    return False


def writes_output(call: Call) -> bool:
    """Whether it writes to standard output, as far as the tables say."""
    return call.function in PRINTERS and not any(key in ("file", "stream") for key, _, _ in call.arguments)


def _of_object(call: Call) -> bool:
    """Whether it is a changing method of an object of another module: ``sys.path.append``."""
    package, _, method = call.function.rpartition(".")
    if not package or package.startswith(("numpy", "scipy", "builtins")):
        return False
    parts = unparsed(call.node.func).count(".")
    return method in (MUTATORS | ORDERED if parts > 1 else _SURE_METHODS if parts else ())


def _printed_to_a_file(call: Call) -> Iterator[Deed]:
    for key, value, node in call.arguments:
        if key in ("file", "stream", "**") and value.outer and not unparsed(node).endswith("stderr"):
            yield Deed(Effect.FILE, call.node, call.function.removeprefix("builtins."))


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
