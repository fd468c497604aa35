"""Plan one annotated parallel loop: run the passes over it and assemble what emission needs.

A plan comes out only if no pass found an error; findings of independent passes are collected, so that a
person sees them together.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic, has_errors
from dlbc.ir.access import Access
from dlbc.ir.effects import Summaries
from dlbc.ir.loop import AnnotatedLoop, Module
from dlbc.ir.plan import ArrayPlan, LoopPlan, SpaceForm
from dlbc.ir.region import LoopNames, ModuleNames
from dlbc.ir.scalars import Scalars
from dlbc.ir.uses import UseKind, uses_of
from dlbc.passes.check_effects import Effects, check_effects
from dlbc.passes.check_form import check_form
from dlbc.passes.check_hidden import check_hidden
from dlbc.passes.check_scalars import check_scalars
from dlbc.passes.classify_scalars import classify_scalars
from dlbc.passes.compute_liveness import compute_liveness
from dlbc.passes.find_accesses import find_accesses
from dlbc.passes.find_hidden import find_hidden
from dlbc.passes.find_iterators import find_iterators
from dlbc.passes.infer_distribution import infer_distribution, iterations_of
from dlbc.passes.resolve_names import resolve_module, resolve_names
from dlbc.passes.summarize_functions import summarize_functions
from dlbc.passes.test_dependence import Independence, test_dependence
from dlbc.source import Source

__all__ = ["plan_loops"]

_WRAPPERS = frozenset({"enumerate", "zip", "reversed"})


Planned = tuple[LoopPlan | None, tuple[Diagnostic, ...]]


def plan_loops(module: Module, loops: Sequence[AnnotatedLoop]) -> list[Planned]:
    """Of each `parallel` loop the plan, or None, and why not; remarks may come with a plan."""
    world = resolve_module(module)
    iterators, growing = find_iterators(module.tree, world)
    world = replace(world, hidden=find_hidden(module.tree, world), iterators=iterators, growing=growing)
    summaries = summarize_functions(world)
    return [_plan_loop(module, loop, world, summaries) for loop in loops]


def _plan_loop(module: Module, loop: AnnotatedLoop, world: ModuleNames, summaries: Summaries) -> Planned:
    source = module.source
    names = resolve_names(loop, world)
    findings = [*check_form(loop, names, world, source)]
    if has_errors(findings):
        return None, _sorted(findings)
    facts = find_accesses(loop, names, world, summaries)
    scalars = classify_scalars(loop.node.body, names)
    effects = check_effects(facts, names, world, summaries, source, loop)
    findings += check_scalars(scalars, facts, effects.callees, loop, names, source)
    findings += effects.findings
    findings += check_hidden(facts, effects.callees, names, world, source, loop)
    accesses = _in_order([*facts.accesses, *effects.stores])
    axes, conflicts = _verdicts(accesses, effects, loop, names, source)
    findings += conflicts
    arrays, contradictions = infer_distribution(
        accesses, axes, _seen_elsewhere(accesses, effects), names.index, loop.annotation
    )
    findings += contradictions
    findings += _deleted(loop, names, scalars, source)
    if has_errors(findings):
        return None, _sorted(findings)
    return _assemble(loop, module, names, world, scalars, arrays), _sorted(findings)


def _in_order(accesses: Sequence[Access]) -> list[Access]:
    return sorted(accesses, key=lambda a: (getattr(a.node, "lineno", 0), getattr(a.node, "col_offset", 0)))


def _sorted(findings: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(sorted(dict.fromkeys(findings), key=lambda d: (d.place, d.code)))


def _verdicts(
    accesses: Sequence[Access], effects: Effects, loop: AnnotatedLoop, names: LoopNames, source: Source
) -> tuple[dict[str, int], list[Diagnostic]]:
    """The axis of every written array that passed the dependence test, and what the others met with."""
    axes: dict[str, int] = {}
    findings: list[Diagnostic] = []
    assume = loop.annotation.assume_independent is not None
    for array in dict.fromkeys(a.array for a in accesses if a.writes):
        touching = [a for a in accesses if a.overlaps(array) and a.node not in effects.cleared.get(array, ())]
        verdict = test_dependence(array, touching, names, source, assume)
        if isinstance(verdict, Independence):
            axes[array] = verdict.axis
        else:
            findings.append(verdict)
    return axes, findings


def _seen_elsewhere(accesses: Sequence[Access], effects: Effects) -> frozenset[str]:
    """Arrays (``self.A``) of which the object they belong to is handed on as a whole."""
    found = set()
    for array in {a.array for a in accesses}:
        cleared = effects.cleared.get(array, ())
        if any(array.startswith(a.array + ".") and a.node not in cleared for a in accesses):
            found.add(array)
    return frozenset(found)


def _deleted(loop: AnnotatedLoop, names: LoopNames, scalars: Scalars, source: Source) -> Iterator[Diagnostic]:
    """Temporaries that end deleted: whether they are bound after the loop cannot be kept."""
    gone = {u.name: u.node for s in loop.node.body for u in uses_of(s) if u.kind is UseKind.DELETE}
    live = compute_liveness(loop, names.temporaries) if gone else frozenset()
    for name in sorted((gone.keys() & live) - scalars.definite):
        yield report("DLB421", source.place_of(gone[name]), name=name)


def _assemble(
    loop: AnnotatedLoop,
    module: Module,
    names: LoopNames,
    world: ModuleNames,
    scalars: Scalars,
    arrays: tuple[ArrayPlan, ...],
) -> LoopPlan:
    private = {n for clause in loop.annotation.private for n in clause.names}
    kept = (names.temporaries - set(names.targets)) | names.rebound
    live = compute_liveness(loop, names.temporaries)
    definite = live & kept & scalars.definite
    order = [n for n in _order(loop) if n in live & kept and n not in private]
    schedule = loop.annotation.schedule
    mangled = dict(_mangled(loop))
    return LoopPlan(
        loop=loop,
        space=SpaceForm(_space_text(loop.node.iter, module, world), _rename(names.index, mangled)),
        parameters=tuple(mangled.get(p, p) for p in _parameters(names, arrays)),
        arrays=tuple(_rename_array(a, mangled) for a in arrays),
        iterations=iterations_of(loop.annotation),
        definite=tuple(mangled.get(n, n) for n in order if n in definite),
        conditional=tuple(mangled.get(n, n) for n in order if n not in definite),
        targets_live=bool(live & (set(names.targets) - names.rebound)),
        strategy=None if schedule is None else schedule.strategy,
        group=None if schedule is None else schedule.group,
        mangled=tuple(mangled.items()),
    )


def _parameters(names: LoopNames, arrays: Sequence[ArrayPlan]) -> Iterator[str]:
    """The arrays of the table first, in its order, then the rest as the loop names them."""
    roots = [a.name.partition(".")[0] for a in arrays]
    yield from dict.fromkeys(n for n in (*roots, *names.parameters) if n in names.parameters)


def _order(loop: AnnotatedLoop) -> dict[str, None]:
    """All names of the loop in document order."""
    found = [n for n in ast.walk(loop.node) if isinstance(n, ast.Name)]
    found.sort(key=lambda n: (n.lineno, n.col_offset))
    order = dict.fromkeys(n.id for n in found)
    for node in ast.walk(loop.node):
        for field in ("name", "rest"):
            if isinstance(name := getattr(node, field, None), str):
                order.setdefault(name)
        if isinstance(node, ast.Import | ast.ImportFrom):
            order |= dict.fromkeys((a.asname or a.name).split(".")[0] for a in node.names)
    return order


def _space_text(node: ast.expr, module: Module, world: ModuleNames) -> str:
    """The iterable as the user wrote it, with the builtins that hide its structure replaced."""
    source = module.source
    text = ast.get_source_segment(source.text, node) or ast.unparse(node)
    places = sorted(((part.lineno, part.col_offset) for part in _wrappers(node, world)), reverse=True)
    for line, column in places:
        at = _offset(text, line - node.lineno, column - (node.col_offset if line == node.lineno else 0))
        text = text[:at] + "dlbrt." + text[at:]
    return text if len(ast.parse(f"f({text})").body[0].value.args) == 1 else f"({text})"  # type: ignore[attr-defined]


def _offset(text: str, line: int, column: int) -> int:
    """The character position of a place in ``text``, columns counted in UTF-8 bytes."""
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[:line])) + len(lines[line].encode()[:column].decode())


def _wrappers(node: ast.expr, world: ModuleNames) -> Iterator[ast.Name]:
    """The names of `enumerate`, `zip` and `reversed` that give the loop its items, nested ones too."""
    if not isinstance(node, ast.Call):
        return
    name = node.func
    progress = ast.unparse(name).split(".")[-1] == "tqdm"
    if isinstance(name, ast.Name) and name.id in _WRAPPERS and world.builtin(name.id):
        yield name
    elif not progress:
        return
    for argument in node.args:
        yield from _wrappers(argument, world)


def _mangled(loop: AnnotatedLoop) -> Iterator[tuple[str, str]]:
    owner = next((n for n in reversed(loop.path) if isinstance(n, ast.ClassDef)), None)
    if owner is None or not owner.name.strip("_"):
        return
    found = {
        name
        for node in ast.walk(loop.node)
        for name in (getattr(node, "id", None), getattr(node, "attr", None), getattr(node, "arg", None))
        if isinstance(name, str) and name.startswith("__") and not name.endswith("__")
    }
    for name in sorted(found):
        yield name, f"_{owner.name.lstrip('_')}{name}"


def _rename(name: str | None, mangled: dict[str, str]) -> str | None:
    return None if name is None else mangled.get(name, name)


def _rename_array(plan: ArrayPlan, mangled: dict[str, str]) -> ArrayPlan:
    if not mangled:
        return plan
    pattern = re.compile(r"(?<!\w)(" + "|".join(map(re.escape, mangled)) + r")(?!\w)")

    def swap(text: str) -> str:
        return pattern.sub(lambda m: mangled[m[1]], text)

    return replace(
        plan,
        name=swap(plan.name),
        rows=tuple(map(swap, plan.rows)),
        writes=None if plan.writes is None else tuple(map(swap, plan.writes)),
    )
