"""Which of the global random generators an iteration seeds before it does anything else.

After ``np.random.seed(i)`` at the head of a body, what the iteration draws depends on no other iteration. The
seed may also stand at the head of a function of the module that the body calls first. Only values are
computed before it: a statement that may draw, leave the iteration or fail half-way makes the order of the
iterations count.

And what holds the seeds of an iteration's own generators. numpy makes a new generator of a seed, but gives
back a generator that it is handed as it is; which of the two it is, the runtime sees before the loop.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from typing import TypeGuard

from dlbc.analysis.callees import is_module_callable
from dlbc.analysis.effects import FunctionSummary
from dlbc.analysis.iterated_sequences import sequences_of
from dlbc.analysis.uses import children_of, every_node, own_nodes, unparsed
from dlbc.ir.access import OriginKind, RegionFacts
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.region import FunctionNode, ModuleNames
from dlbc.library.table import is_pure, lookup

#: The modules whose functions draw from a generator of their own, all of them from one.
GLOBAL_GENERATORS = ("random", "numpy.random")

#: How many functions deep a seed is looked for.
_DEPTH = 4

#: What changes a seed, and the attributes that lead to it from the generator that was made of it.
_WAYS_TO_CHANGE = frozenset({"spawn", "seed_seq", "_seed_seq"})


def seeded_generators(body: Sequence[ast.stmt], module: ModuleNames) -> frozenset[str]:
    """The global generators that the statements surely seed before they draw from them."""
    return frozenset(name for name in GLOBAL_GENERATORS if _seeds(body, name, module, _DEPTH))


def draws_from(function: str) -> str:
    """The global generator to which a function of the library, given by its full name, belongs; or ''."""
    return next((name for name in GLOBAL_GENERATORS if function.rpartition(".")[0] == name), "")


def holders_of_seeds(
    facts: RegionFacts,
    watched: Collection[str],
    functions: Sequence[FunctionSummary],
    loop: AnnotatedLoop,
    module: ModuleNames,
) -> tuple[str | int, ...]:
    """What holds the seeds of which the body makes generators: names, and numbers of sequences it runs over.

    None where calls are ``watched`` for anything else, or the body or its ``functions`` may change a seed.
    """
    calls = [call for call in facts.calls if lookup(call.function).generator]
    attributes = {n.attr for s in loop.node.body for n in every_node(s) if isinstance(n, ast.Attribute)}
    attributes |= {call.function.removeprefix(".") for call in facts.calls}
    attributes |= {name for function in functions for name in function.attributes}
    others = set(watched) - {unparsed(call.node.func) for call in calls}
    if not watched or others or any(f.watched for f in functions) or attributes & _WAYS_TO_CHANGE:
        return ()
    found: set[str | int] = set()
    for origin in {o for call in calls for _, value, _ in call.arguments for o in value.points_to}:
        numbers = {number for _, number in sequences_of(loop.node, {origin.name}, module)}
        if origin.kind is OriginKind.SHARED and origin.name.isidentifier():
            found.add(origin.name)
        elif origin.kind is OriginKind.ELEMENT and numbers:
            found |= numbers
        else:
            return ()
    return tuple(sorted(found, key=str))


def _seeds(body: Sequence[ast.stmt], generator: str, module: ModuleNames, depth: int) -> bool:
    for statement in body:
        match statement:
            case ast.Expr() | ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Return():
                for call in _in_order(statement):
                    if (found := _seeded_by(call, generator, module, depth)) is not None:
                        return found
                if isinstance(statement, ast.Return):
                    return False
            case ast.Import() | ast.ImportFrom() | ast.Pass():
                pass
            case _:
                return False
    return False


def _in_order(node: ast.AST) -> Iterator[ast.expr]:
    """The calls of a statement in the order of evaluation; what may not be evaluated stands for a call."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        parts = [p for p in (node.value, *getattr(node, "targets", ()), getattr(node, "target", None)) if p]
    elif isinstance(node, ast.Lambda):
        parts = []
    elif isinstance(
        node, ast.IfExp | ast.BoolOp | ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp
    ):
        yield node
        return
    else:
        parts = list(children_of(node))
    for part in parts:
        yield from _in_order(part)
    if isinstance(node, ast.Call | ast.Await | ast.Yield | ast.YieldFrom):
        yield node


def _seeded_by(node: ast.expr, generator: str, module: ModuleNames, depth: int) -> bool | None:
    """Whether evaluating the node seeds the generator first; None where it has nothing to do with it."""
    if not isinstance(node, ast.Call):
        return None if not any(isinstance(n, ast.Call) for n in ast.walk(node)) else False
    name = unparsed(node.func)
    full = module.imported_name(name)
    if lookup(full).generator:  # a generator of its own
        return None
    if draws_from(full) == generator:
        return full == f"{generator}.seed" and _given(node)
    if draws_from(full) or (is_pure(full) and lookup(full).calls is None):
        return None
    if "." not in name and module.builtin(name):
        return None if is_pure(f"builtins.{name}") else False
    if not is_module_callable(name, module) or name in module.classes or not depth:
        return False
    return all(
        _runs_at_once(f) and _seeds(f.body, generator, module, depth - 1) for f in module.functions[name]
    )


def _runs_at_once(function: FunctionNode) -> TypeGuard[ast.FunctionDef]:
    """Whether calling it runs its body: it is no generator, no coroutine, and not wrapped by another one."""
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return False
    return not any(isinstance(n, ast.Yield | ast.YieldFrom) for n in own_nodes(function.body))


def _given(call: ast.Call) -> bool:
    """Whether a seed is given: without one the generator takes its state from the system."""
    values = [*call.args[:1], *(k.value for k in call.keywords)]
    return any(
        not (isinstance(v, ast.Starred) or (isinstance(v, ast.Constant) and v.value is None)) for v in values
    )
