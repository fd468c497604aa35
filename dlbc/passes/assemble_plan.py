"""Assemble the plan of a loop from the results of the other passes, with names as the kernel has them.

The only decision taken here is the order of names, which is that of the text. In the iteration space of the
call, `enumerate`, `zip` and `reversed` become the runtime's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dlbrt.contract import Distribution
from dlbrt.records import dataclass

from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.enclosing_statements import maybe_unbound
from dlbc.analysis.names import is_known, mangled_names, rename, rename_array, rename_reduction, swapped
from dlbc.analysis.uses import ScalarFacts, bound_names, every_node, names_in
from dlbc.ir.access import Access
from dlbc.ir.access_path import root_of
from dlbc.ir.loop import AnnotatedLoop, IndependenceProof
from dlbc.ir.plan import ArrayPlan, CostPlan, FoldDecision, IterationContributions, LoopPlan, SpaceText
from dlbc.ir.region import LoopNames, ModuleNames

_WRAPPERS = frozenset({"enumerate", "zip", "reversed"})


@dataclass(frozen=True)
class PlanParts:
    """The results for one loop; ``live`` is what is read after it.

    ``items``: the sequences whose items the body changes in place, with their numbers. ``dispatch``: the
    conditions under which methods of objects are those that were looked into.
    ``seen_after_failure``: what the loop leaves may be read even if an exception ends it.
    """

    iterations: Distribution
    scalars: ScalarFacts
    accesses: Sequence[Access]
    arrays: Sequence[ArrayPlan]
    items: tuple[tuple[str, int], ...]
    contributions: IterationContributions
    proofs: Sequence[IndependenceProof]
    cost: CostPlan | None
    fold_decision: FoldDecision
    live: frozenset[str]
    seen_after_failure: bool
    dispatch: Sequence[str] = ()


def assemble_plan(context: AnalysisContext, pieces: PlanParts) -> LoopPlan:
    """The plan, still without the classes of its variables and without its proof status."""
    loop, names, contributions = context.loop, context.names, pieces.contributions
    mangled = dict(mangled_names(loop))
    schedule = loop.annotation.schedule
    guards = tuple(dict.fromkeys(_guards(pieces)))
    rows = (row for a in pieces.arrays for row in (*a.rows, *(a.writes or ())))
    guarded = (name for guard in guards for name in sorted(names_in(guard)))
    around = (name for row in rows for name in sorted(names_in(row) - names.temporaries))
    own = tuple(_parameters(names, pieces))
    read = pieces.cost.names if pieces.cost is not None and pieces.cost.derived else ()
    kept = _kept(context, pieces)

    of_class = bound_names(loop.scope.body).keys() if isinstance(loop.scope, ast.ClassDef) else ()

    def unsure(name: str) -> bool:
        if name in of_class:
            return False  # or the loop was refused
        return maybe_unbound(name, loop) or not is_known(name, loop, context.module)

    return LoopPlan(
        loop=loop,
        space=SpaceText(
            _space_text(context), rename(names.index, mangled), tuple(mangled.get(n, n) for n in names.items)
        ),
        parameters=tuple(mangled.get(p, p) for p in dict.fromkeys((*own, *guarded, *around, *read))),
        arrays=tuple(rename_array(a, mangled) for a in pieces.arrays),
        items=tuple((swapped(text, mangled), number) for text, number in pieces.items),
        iterations=pieces.iterations,
        definite=tuple(mangled.get(n, n) for n in kept if n in pieces.scalars.definite),
        conditional=tuple(mangled.get(n, n) for n in kept if n not in pieces.scalars.definite),
        targets_live=bool(pieces.live & (set(names.targets) - names.rebound)),
        strategy=None if schedule is None else schedule.strategy,
        group=None if schedule is None else schedule.group,
        mangled=tuple(mangled.items()),
        reductions=tuple(rename_reduction(r, mangled) for r in contributions.reductions),
        ordered=tuple(replace(o, name=swapped(o.name, mangled)) for o in contributions.ordered),
        unsure=tuple(mangled.get(p, p) for p in dict.fromkeys((*own, *read)) if unsure(p)),
        guards=tuple(swapped(guard, mangled) for guard in guards),
        proofs=tuple(pieces.proofs),
        cost=pieces.cost,
        fold_decision=pieces.fold_decision,
        profile=loop.annotation.profile,
        seen_after_failure=pieces.seen_after_failure,
    )


def _kept(context: AnalysisContext, pieces: PlanParts) -> list[str]:
    """The temporaries whose last value is kept, in the order of the text.

    Other targets get theirs from the last item. A starred one is a list that the iteration has made.
    """
    loop, names, private = context.loop, context.names, context.loop.annotation.private_names
    starred = bound_names(n for n in every_node(loop.node.target) if isinstance(n, ast.Starred)).keys()
    kept = (names.temporaries - {*names.targets, *pieces.contributions.names}) | names.rebound | starred
    return [n for n in _order(loop) if n in pieces.live & kept and n not in private]


def _guards(pieces: PlanParts) -> Iterator[str]:
    """The conditions to check before the loop."""
    yield from dict.fromkeys(guard for proof in pieces.proofs for guard in proof.guards)
    yield from pieces.dispatch
    for access in pieces.accesses:  # assigning to a slice of a list may change its length
        match access.node:
            case ast.Subscript(slice=ast.Slice(), value=base) if access.writes:
                if not isinstance(base, ast.Subscript):
                    yield f"{access.array}.ndim > 0"


def _parameters(names: LoopNames, pieces: PlanParts) -> Iterator[str]:
    """The kernel's parameters: the arrays in the order of their table, then contributions, then the rest."""
    contributions = pieces.contributions
    roots = [root_of(a.name) for a in pieces.arrays]
    first = (*(n for n in roots if n in names.parameters), *map(root_of, contributions.containers))
    bound = (root_of(r.name) for r in contributions.reductions if not r.element)
    yield from dict.fromkeys((*first, *bound, *names.parameters))


def _order(loop: AnnotatedLoop) -> dict[str, None]:
    """All names of the loop in document order."""
    names = [n for n in every_node(loop.node) if isinstance(n, ast.Name)]
    order = dict.fromkeys(n.id for n in sorted(names, key=lambda n: (n.lineno, n.col_offset)))
    for node in every_node(loop.node):
        for field in ("name", "rest"):
            if isinstance(name := getattr(node, field, None), str):
                order.setdefault(name)
        if isinstance(node, ast.Import | ast.ImportFrom):
            order |= dict.fromkeys((a.asname or a.name).split(".")[0] for a in node.names)
    return order


def _space_text(context: AnalysisContext) -> str:
    """The iterable of a loop as the user wrote it, with the builtins that hide its structure replaced."""
    node = context.loop.node.iter
    text = context.source.segment(node)
    places = sorted(
        ((part.lineno, part.col_offset) for part in _wrappers(node, context.module)), reverse=True
    )
    for line, column in places:
        at = _offset(text, line - node.lineno, column - (node.col_offset if line == node.lineno else 0))
        text = text[:at] + "dlbrt." + text[at:]
    return text if len(ast.parse(f"f({text})").body[0].value.args) == 1 else f"({text})"  # type: ignore[attr-defined]


def _offset(text: str, line: int, column: int) -> int:
    """The character position of a place in ``text``, columns counted in UTF-8 bytes."""
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[:line])) + len(lines[line].encode()[:column].decode())


def _wrappers(node: ast.expr, module: ModuleNames) -> Iterator[ast.Name]:
    """The names of `enumerate`, `zip` and `reversed` that give the loop its items, nested ones too."""
    if not isinstance(node, ast.Call):
        return
    name = node.func
    progress = ast.unparse(name).split(".")[-1] == "tqdm"
    if isinstance(name, ast.Name) and name.id in _WRAPPERS and module.builtin(name.id):
        yield name
    elif not progress:
        return
    for argument in node.args:
        yield from _wrappers(argument, module)
