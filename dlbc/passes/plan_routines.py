"""Plan the routines of a module: where their sequential code touches arrays that stay on the ranks.

The paper (Clarke, Lastovetsky, Rychkov, section 1) lets the arrays of an iterative routine stay distributed.
Here the program still sees its own arrays, so each place that may read or change one is wrapped. A routine
whose text does not show all such places (it suspends, or unseen code may run anywhere in it) keeps nothing on
the ranks: its loops run as they do outside routines.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dlbc.analysis.effects import FunctionSummaries
from dlbc.analysis.names import anchors_of, swapped
from dlbc.analysis.uses import bound_names, every_node, names_in
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.loop import AnnotatedRoutine, Module
from dlbc.ir.plan import LoopPlan
from dlbc.ir.region import ModuleNames
from dlbc.ir.routine import ModRef, RoutinePlan, Wrap
from dlbc.routines.foreseen_passes import foreseen_names
from dlbc.routines.mod_ref_expressions import AccessedChain
from dlbc.routines.mod_ref_statements import StatementModRef, suspends
from dlbc.routines.plain_names import RoutineNames
from dlbc.routines.value_kinds import ValueKind

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def plan_routines(
    module: Module,
    routines: Sequence[AnnotatedRoutine],
    plans: Sequence[LoopPlan],
    module_names: ModuleNames,
    summaries: FunctionSummaries,
) -> tuple[tuple[RoutinePlan, ...], tuple[Diagnostic, ...]]:
    """The outermost routines that keep arrays on the ranks, and remarks; ``plans``: those of all loops."""
    findings: list[Diagnostic] = []
    kept: list[AnnotatedRoutine] = []
    for routine in routines:
        reason = _finalized(module_names) or _suspended(routine)
        if reason:
            findings.append(report("DLB129", routine.annotation.place, reason=reason))
        else:
            kept.append(routine)
    planned: list[RoutinePlan] = []
    waiting = _outermost(kept)
    while waiting:
        routine = waiting.pop(0)
        within = [r for r in kept if _same_scope(routine, r.path)]
        plan = _plan(module, routine, within, plans, module_names, summaries)
        if isinstance(plan, RoutinePlan):
            planned.append(plan)
            findings += [report("DLB130", module.source.place_of(n), function=f) for f, n in plan.unseen]
        else:
            findings.append(plan)
            waiting = [*_outermost(within), *waiting]
    return tuple(planned), tuple(findings)


def _suspended(routine: AnnotatedRoutine) -> str:
    """Where the loop suspends, so that other code runs while arrays are on the ranks; or empty."""
    node = suspends([routine.node])
    if node is None:
        return ""
    word = "yield" if isinstance(node, ast.Yield | ast.YieldFrom) else "await"
    return f"line {getattr(node, 'lineno', routine.node.lineno)} gives control away (`{word}`)"


def _finalized(module_names: ModuleNames) -> str:
    """The method that runs wherever the last reference to an object goes, which no text shows; or empty."""
    found = module_names.methods.get("__del__", ())
    return f"the method `__del__` in line {found[0].lineno} may run at any place" if found else ""


def _same_scope(outer: AnnotatedRoutine, path: Sequence[ast.AST]) -> bool:
    """Whether the end of the path is in the routine, and in the same function."""
    return outer.node in path and not any(isinstance(n, _SCOPES) for n in path[path.index(outer.node) :])


def _outermost(routines: Sequence[AnnotatedRoutine]) -> list[AnnotatedRoutine]:
    return [r for r in routines if not any(_same_scope(o, r.path) for o in routines if o is not r)]


def _plan(
    module: Module,
    routine: AnnotatedRoutine,
    nested: Sequence[AnnotatedRoutine],
    plans: Sequence[LoopPlan],
    module_names: ModuleNames,
    summaries: FunctionSummaries,
) -> RoutinePlan | Diagnostic:
    """The plan of an outermost routine; or why it has none."""
    own = [p for p in plans if _same_scope(routine, p.loop.path)]
    parallel = frozenset[ast.AST](p.loop.node for p in plans)
    resident = tuple(dict.fromkeys(name for p in own for name in _arrays(p)))
    arrays = frozenset(filter(str.isidentifier, resident))
    names = RoutineNames(routine, module.tree, module_names, summaries, parallel, arrays)
    touches = names.walk()
    walk = StatementModRef(touches, parallel)
    walk.routine(routine.node)
    if walk.managers:
        what = ast.unparse(walk.managers[0])
        reason = f"`with {what}` stands around a parallel loop, and may look at arrays when it ends"
        return report("DLB129", routine.annotation.place, reason=reason)
    owners: dict[ast.AST, int] = {}  # the ordinal of the innermost routine around each node
    for one in (routine, *sorted(nested, key=lambda r: len(r.path))):
        owners |= dict.fromkeys(every_node(one.node), one.ordinal)
    loops = [n for n in every_node(module.tree) if isinstance(n, ast.For | ast.AsyncFor | ast.While)]
    loops.sort(key=lambda n: (n.lineno, n.col_offset))
    read_before = {p.loop.ordinal: read for p in own if (read := tuple(_read_before(p, names)))}
    foreseen = None
    if not (nested or read_before):
        by_node: dict[ast.AST, LoopPlan] = {p.loop.node: p for p in own}
        foreseen = foreseen_names(routine, by_node, arrays, names, module_names)
    return RoutinePlan(
        routine=routine,
        loops={p.loop.ordinal: owners[p.loop.node] for p in own},
        nested=tuple(nested),
        items={ordinal: owners[loop] for ordinal, loop in enumerate(loops) if loop in walk.items},
        wraps=tuple(_wraps(touches.accessed, routine, owners)),
        read_before=read_before,
        maybe_scalar=names.plain,
        resident=resident,
        unseen=tuple({text: (text, node) for text, node in touches.unseen}.values()),
        narrowing=_narrows(routine, own),
        foreseen=foreseen,
    )


def _narrows(routine: AnnotatedRoutine, plans: Sequence[LoopPlan]) -> bool:
    """Whether each pass of a routine's loops leaves out some of the first iterations of the pass before.

    In an elimination loops run over ``range(k + 1, n)`` in pass k. Only such text is recognized.
    """
    match routine.node:
        case ast.For(target=ast.Name(id=name), iter=outer) if _ascends(outer):
            return bool(plans) and all(_begins_at(name, plan.loop.node.iter) for plan in plans)
    return False


def _ascends(space: ast.expr) -> bool:
    match space:
        case ast.Call(func=ast.Name(id="range"), args=[_] | [_, _]):
            return True
        case ast.Call(func=ast.Name(id="range"), args=[_, _, ast.Constant(value=int(step))]):
            return step > 0
    return False


def _begins_at(name: str, space: ast.expr) -> bool:
    """Whether it is an ascending range from a name, or from more than it, to an end without the name."""
    match space:
        case ast.Call(args=[start, stop, *_]) if _ascends(space) and name not in names_in(ast.unparse(stop)):
            match start:
                case ast.Name(id=found):
                    return found == name
                case ast.BinOp(left=ast.Name(id=found), op=ast.Add(), right=ast.Constant(value=int())):
                    return found == name
    return False


def _arrays(plan: LoopPlan) -> Iterator[str]:
    """The arrays of a loop, as the user writes them: in the plan, private names are mangled."""
    written = {mangled: name for name, mangled in plan.mangled}
    for array in plan.arrays:
        yield swapped(array.name, written)


def _wraps(
    chains: Iterable[AccessedChain], routine: AnnotatedRoutine, owners: Mapping[ast.AST, int]
) -> Iterator[Wrap]:
    """One wrap for each accessed chain, in the order of the text."""
    numbers = {anchor: number for number, anchor in enumerate(anchors_of(routine.node))}
    strongest: dict[ast.AST, AccessedChain] = {}
    for chain in chains:
        if chain.anchor not in strongest or strongest[chain.anchor].mod_ref < chain.mod_ref:
            strongest[chain.anchor] = chain
    for chain in sorted(strongest.values(), key=lambda c: numbers[c.anchor]):
        number, owner = numbers[chain.anchor], owners[chain.anchor]
        yield Wrap(number, chain.levels, chain.mod_ref, chain.kind, owner, chain.node)


def _read_before(plan: LoopPlan, names: RoutineNames) -> Iterator[str]:
    """The expressions that the loop's guards, footprints and cost read on rank 0, as text."""
    walk = names.walk()
    own = (*bound_names([plan.loop.node.target]), plan.space.index or "", "np")
    with walk.bound(dict.fromkeys(own, ValueKind.SCALAR)):
        for text in _evaluated(plan):
            walk.visit(ast.parse(text, mode="eval").body, ModRef.REF)
    chains = (t.node.value if isinstance(t.node, ast.Subscript) else t.node for t in walk.accessed)
    yield from dict.fromkeys(map(ast.unparse, chains))


def _evaluated(plan: LoopPlan) -> Iterator[str]:
    yield from plan.guards
    for array in plan.arrays:
        yield from (*array.rows, *(array.writes or ()))
    if plan.cost is not None:
        yield plan.cost.expression("np")
        yield from (call for _, call in plan.cost.bound_calls)
