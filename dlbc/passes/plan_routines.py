"""Plan the routines of a module: what their sequential code touches of the arrays that stay on the ranks.

The paper (Clarke, Lastovetsky, Rychkov, section 1) lets the arrays of an iterative routine stay distributed;
here the program goes on seeing its own arrays, so each place that may look at them has to say so. A routine
whose text cannot be taken in whole (it gives control away, or code that cannot be seen runs where nothing can
be said of it) keeps nothing on the ranks: its loops run as they do elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from dlbc.analysis.effects import FunctionSummaries
from dlbc.analysis.names import anchors_of
from dlbc.analysis.uses import bound_names, every_node
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.loop import AnnotatedRoutine, Module
from dlbc.ir.plan import LoopPlan
from dlbc.ir.region import ModuleNames
from dlbc.ir.routine import ModRef, RoutinePlan, Wrap
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
    """The outermost routines that keep arrays on the ranks, and remarks; ``plans`` are those of all loops."""
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
        within = [r for r in kept if routine.node in r.path and _same_scope(routine, r.path)]
        plan = _plan(module, routine, within, plans, module_names, summaries)
        if isinstance(plan, RoutinePlan):
            planned.append(plan)
            findings += _remarks(plan, module)
        else:
            findings.append(plan)
            waiting = [*_outermost(within), *waiting]
    return tuple(planned), tuple(findings)


def _suspended(routine: AnnotatedRoutine) -> str:
    """Where the loop gives control away, so that others run while arrays are away; or empty."""
    node = suspends([routine.node])
    if node is None:
        return ""
    word = "yield" if isinstance(node, ast.Yield | ast.YieldFrom) else "await"
    return f"line {getattr(node, 'lineno', routine.node.lineno)} gives control away (`{word}`)"


def _finalized(module_names: ModuleNames) -> str:
    """Code that runs wherever the last reference to an object goes, which no text shows; or empty."""
    found = module_names.methods.get("__del__", ())
    return f"the method `__del__` in line {found[0].lineno} may run at any place" if found else ""


def _same_scope(outer: AnnotatedRoutine, path: Sequence[ast.AST]) -> bool:
    """Whether what lies at the end of the path belongs to the routine's own function."""
    return not any(isinstance(n, _SCOPES) for n in path[path.index(outer.node) :])


def _outermost(routines: Sequence[AnnotatedRoutine]) -> list[AnnotatedRoutine]:
    return [
        r
        for r in routines
        if not any(o.node in r.path and _same_scope(o, r.path) for o in routines if o is not r)
    ]


def _plan(
    module: Module,
    routine: AnnotatedRoutine,
    nested: Sequence[AnnotatedRoutine],
    plans: Sequence[LoopPlan],
    module_names: ModuleNames,
    summaries: FunctionSummaries,
) -> RoutinePlan | Diagnostic:
    """The plan of an outermost routine; or why it has none."""
    own = [p for p in plans if routine.node in p.loop.path and _same_scope(routine, p.loop.path)]
    parallel = frozenset[ast.AST](p.loop.node for p in plans)
    resident = tuple(dict.fromkeys(name for p in own for name in _arrays(p)))
    arrays = frozenset(name for name in resident if "." not in name)
    names = RoutineNames(routine, module.tree, module_names, summaries, parallel, arrays)
    touches = names.walk()
    walk = StatementModRef(touches, parallel)
    walk.routine(routine.node)
    if walk.managers:
        what = ast.unparse(walk.managers[0])
        reason = f"`with {what}` stands around a parallel loop, and may look at arrays when it ends"
        return report("DLB129", routine.annotation.place, reason=reason)
    owners = _Owners(routine, nested)
    ordinals = {loop: k for k, loop in _ordinals(module.tree)}
    return RoutinePlan(
        routine,
        {p.loop.ordinal: owners.of(p.loop.node) for p in own},
        tuple(nested),
        {ordinals[loop]: owners.of(loop) for loop in walk.items},
        tuple(_wraps(touches.accessed, routine, owners)),
        {p.loop.ordinal: ahead for p in own if (ahead := tuple(_ahead(p, names)))},
        names.plain,
        resident,
        tuple({text: (text, node) for text, node in touches.unseen}.values()),
    )


def _arrays(plan: LoopPlan) -> Iterator[str]:
    """The arrays of a loop, as the user writes them: the plan has private names as the class has them."""
    written = {mangled: name for name, mangled in plan.mangled}
    for array in plan.arrays:
        yield ".".join(written.get(part, part) for part in array.name.split("."))


class _Owners:
    """The innermost routine around a place."""

    def __init__(self, routine: AnnotatedRoutine, nested: Sequence[AnnotatedRoutine]) -> None:
        inner = sorted(nested, key=lambda r: len(r.path))
        self._of: dict[ast.AST, int] = {}
        for one in (routine, *inner):
            self._of |= dict.fromkeys(every_node(one.node), one.ordinal)

    def of(self, node: ast.AST) -> int:
        """The routine's ordinal."""
        return self._of[node]


def _ordinals(tree: ast.Module) -> Iterator[tuple[int, ast.AST]]:
    loops = (n for n in every_node(tree) if isinstance(n, ast.For | ast.AsyncFor | ast.While))
    yield from enumerate(sorted(loops, key=lambda n: (n.lineno, n.col_offset)))


def _wraps(touched: Iterable[AccessedChain], routine: AnnotatedRoutine, owners: _Owners) -> Iterator[Wrap]:
    """One wrap for each chain that is touched, in the order of the text."""
    numbers = {anchor: number for number, anchor in enumerate(anchors_of(routine.node))}
    found: dict[ast.AST, AccessedChain] = {}
    for one in touched:
        if one.anchor not in found or found[one.anchor].mod_ref < one.mod_ref:
            found[one.anchor] = one
    for one in sorted(found.values(), key=lambda t: numbers[t.anchor]):
        number, owner = numbers[one.anchor], owners.of(one.anchor)
        yield Wrap(number, one.levels, one.mod_ref, one.kind, owner, one.node)


def _ahead(plan: LoopPlan, names: RoutineNames) -> Iterator[str]:
    """What the loop's guards, footprints and cost look into on rank 0, as text."""
    walk = names.walk()
    own = dict.fromkeys(
        [*bound_names([plan.loop.node.target]), plan.space.index or "", "np"], ValueKind.SCALAR
    )
    with walk.bound(own):
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


def _remarks(plan: RoutinePlan, module: Module) -> Iterator[Diagnostic]:
    """What cannot be seen through, where it stands first."""
    for text, node in plan.unseen:
        yield report("DLB130", module.source.place_of(node), function=text)
