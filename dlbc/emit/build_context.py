"""From a plan to the flat text fields of the templates; every decision on the emitted text is made here."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, count

from dlbrt.contract import Distribution

from dlbc.analysis.contributions.updates import LAST
from dlbc.analysis.names import swapped
from dlbc.analysis.uses import names_in
from dlbc.emit.build_chunk import compiled, computed
from dlbc.emit.choose_names import GeneratedNames
from dlbc.emit.render import (
    INDENT,
    WIDTH,
    AheadContext,
    CallContext,
    KernelContext,
    PrologueContext,
    RoutineContext,
    Setting,
    assigned,
    called,
    deeper,
    on_lines,
    quoted,
    table,
    work_called,
)
from dlbc.ir.loop import AnnotatedRoutine
from dlbc.ir.plan import ArrayPlan, CostPlan, CostShape, FoldDecision, LoopPlan, Reduction
from dlbc.ir.routine import RoutinePlan

# The work of a loop's iterations, stated in the kernel or at the call


def work_in_kernel(plan: LoopPlan, names: GeneratedNames) -> Iterator[str]:
    """The calls in the kernel that state the work of its iterations."""
    if plan.cost is not None and plan.cost.derived:
        yield work_called("cost", _cost(plan.cost, names, dict(plan.mangled)), len(names.dlb))
    if plan.profile is not None:
        clause = plan.profile
        yield f"profile(group={clause.group}, every={clause.every}, threshold={clause.threshold!r})"
    if plan.fold_decision is not FoldDecision.NO:
        yield "folded(always=True)" if plan.fold_decision is FoldDecision.FORCED else "folded()"


def cost_at_call(cost: CostPlan, names: GeneratedNames, width: int) -> str:
    """The clause `cost` as an argument of the call, where its names are the program's own."""
    parts = _cost(cost, names, {})
    if cost.shape is CostShape.VECTOR:
        parts = (f"cost={parts[0]}",)
    if len(INDENT) + len("".join(parts)) < width:
        return "".join(parts)
    first, *others = on_lines(parts, 1, width)
    return "\n".join([first.strip(), *others])


def _cost(cost: CostPlan, names: GeneratedNames, mangled: dict[str, str]) -> tuple[str, ...]:
    """The argument, a function that is evaluated before the loop, in parts between which it may be broken."""
    text, target = swapped(cost.expression(names.numpy), mangled), swapped(cost.target, mangled)
    match cost.shape:
        case CostShape.VECTOR:
            return (f"lambda {target}: {text}",)
        case CostShape.CUMULATIVE:
            return (f"cumulative=lambda {target}: {text}",)
        case CostShape.FIT:
            return (f"fit=lambda: {text}",)
    bound = [(name, swapped(call, mangled)) for name, call in cost.bound_calls]
    every = ast.walk(ast.parse(f"[({target}), {text}, {', '.join(call for _, call in bound)}]"))
    taken = {node.id for node in every if isinstance(node, ast.Name)}
    candidates = chain(["items"], (f"items_{number}" for number in count(2)))
    items = next(name for name in candidates if name not in taken)
    calls = (f" for {name} in [{call}]" for name, call in bound)
    return (f"each=lambda {items}: [", text, f" for {target} in {items}", *calls, "]")


# The contexts of the templates

#: Operators for which the updates of an iteration can be combined first, and the order given up.
ARITHMETIC = frozenset({"+", "-", "*", "&", "|", "^"})
#: Operators of selections.
COMPARISONS = frozenset({"<", "<=", ">", ">="})
#: Characters beside a chain of names to clear: its indentation, and the assigned value.
_UNSET_ROOM = 24
#: The most characters of the text of a call.
_MAX_CALL_TEXT = 60


def build_prologue(plans: Sequence[LoopPlan], names: GeneratedNames) -> PrologueContext:
    """The imports of the program, and its session."""
    used = {a.distribution.value for plan in plans for a in plan.arrays}
    if any(plan.iterations is Distribution.CYCLIC for plan in plans):
        used.add(Distribution.CYCLIC.value)
    used |= {_constructor(r) for plan in plans for r in plan.reductions}
    listed = [_renamed(name, ours) for name, ours in sorted(names.exported) if name in used]
    numpy = names.imports_numpy and any(plan.cost is not None and plan.cost.uses_numpy for plan in plans)
    return PrologueContext(
        numpy_imports=(f"numpy as {names.numpy}",) if numpy else (),
        mpi_import=_renamed("MPI", names.mpi),
        mpi=names.mpi,
        runtime_import=_renamed("dlbrt", names.runtime),
        runtime=names.runtime,
        exported_imports=(", ".join(listed),) if listed else (),
        dlb=names.dlb,
    )


def _renamed(name: str, ours: str) -> str:
    return name if name == ours else f"{name} as {ours}"


def build_kernel(plan: LoopPlan, names: GeneratedNames, kernel: str, origin: str) -> KernelContext:
    """The kernel of a plan; ``origin`` is the source file's name as the comment shows it."""
    cyclic = plan.iterations is Distribution.CYCLIC
    dealt = [names.of("CYCLIC")] if cyclic else []
    rows = [(a.name, _entry(a, plan, names)) for a in plan.arrays]
    place = f"{origin}:{plan.loop.node.lineno}, {plan.status.value}"
    pairs = plan.fold_decision is not FoldDecision.NO
    contributed = [*(r.name for r in plan.reductions), *(o.name for o in plan.ordered)]
    shared = [r.name for r in plan.reductions if _is_per_iteration(r)]
    kept = (*plan.definite, *plan.conditional)
    each_kept = cyclic and plan.seen_after_failure and bool(kept)
    unsure = [name for name in plan.unsure if name not in contributed]
    taken = () if plan.chunk is None else [name for name, _ in plan.chunk.parameters]
    context = KernelContext(
        head=_head(called(f"def {kernel}(", [names.dlb, *plan.parameters], "):", WIDTH), place),
        dlb=names.dlb,
        unbound=tuple(name for name in unsure if name not in taken),
        unbound_compiled=tuple(name for name in unsure if name in taken),
        schedule=_schedule(plan),
        require=tuple(_requirement(guard, names) for guard in plan.guards),
        work=tuple(work_in_kernel(plan, names)),
        watch=_watched(plan, names),
        seeded=_given(f"{names.dlb}.seeded(", [quoted(name) for name in plan.seeded], 1),
        arrays=table(f"{names.dlb}.arrays(", dealt, rows),
        items=_items(plan, names),
        reductions=_listed(
            f"{names.dlb}.reductions(", [(r.name, _declared(r, names)) for r in plan.reductions]
        ),
        ordered=(
            *_listed(f"{names.dlb}.ordered(", [("", quoted(o.name)) for o in plan.ordered if not o.by_item]),
            *_listed(f"{names.dlb}.grouped(", _grouped(plan, grows=False)),
            *_listed(f"{names.dlb}.grouped(", _grouped(plan, grows=True)),
        ),
        accumulators=_rebound(contributed, f"{names.dlb}.accumulators(", 2),
        unset=_unset(plan),
        compiled=compiled(plan, names),
        computed=(),
        turns="iterations(each=True)" if cyclic and (plan.conditional or each_kept) else "iterations()",
        comment="this rank's share",
        accumulate=_rebound(shared, f"{names.dlb}.accumulate(", 3),
        keep=_keep(plan, names, kept, each=each_kept),
        reduce=_given(f"{names.dlb}.reduce(", _reduced(plan)),
    )
    context = _in_pairs(context, plan) if pairs else context
    if plan.chunk is None:
        return context
    computing = computed(plan, names, context.turns, context.accumulate)
    return replace(context, computed=computing, comment="what is left to Python")


def _head(signature: str, place: str) -> str:
    """The kernel's head with the comment after it, or above it if the line would be too long."""
    last = signature.rpartition("\n")[2]
    if len(f"{last}  # {place}") <= WIDTH:
        return f"{signature}  # {place}"
    return f"# {place}\n{signature}"


def _requirement(guard: str, names: GeneratedNames) -> str:
    text = called(f"{names.dlb}.require(", [f"lambda: {guard}", quoted(guard)], ")", WIDTH - len(INDENT))
    return deeper(text, 1)


def _rebound(names: Sequence[str], start: str, depth: int) -> tuple[str, ...]:
    """A call ``depth`` blocks deep that takes the values of names and returns their new values."""
    if not names:
        return ()
    return (deeper(assigned(names, start, names, WIDTH - depth * len(INDENT)), depth),)


def _in_pairs(context: KernelContext, plan: LoopPlan) -> KernelContext:
    """The kernel of a loop that is dealt in pairs.

    If it has to run in iteration order (accumulators, names to clear or keep), it takes the sides of the
    pairs apart.
    """
    in_order = context.accumulators or context.unset or context.keep
    if context.turns == "iterations()":
        turns = "pairs(apart=True)" if in_order else "pairs()"
    else:
        turns = "pairs(each=True)"
    comment = "this rank's share, maybe in pairs" if plan.unfolds_for else "this rank's pairs t, n-1-t"
    return replace(context, turns=turns, comment=comment)


def _unset(plan: LoopPlan) -> tuple[str, ...]:
    """The names to clear before a run, as the targets of one or more assignments.

    Names that every iteration sets are cleared too: an iteration that fails before it sets them must not
    leave the values of an earlier run.
    """
    names = [*plan.definite, *plan.conditional, *(c for r in plan.reductions for c in r.companions)]
    chains = [""]
    for name in names:
        longer = f"{chains[-1]} = {name}" if chains[-1] else name
        chains[-1:] = [longer] if len(longer) + _UNSET_ROOM <= WIDTH else [chains[-1], name]
    return tuple(filter(None, chains))


def _reduced(plan: LoopPlan) -> tuple[str, ...]:
    """The names bound by reductions, in order."""
    return tuple(n for r in plan.reductions if not r.element for n in (r.name, *r.companions))


def _keep(plan: LoopPlan, names: GeneratedNames, kept: Sequence[str], *, each: bool) -> tuple[str, ...]:
    """The call that keeps temporaries, and the states of generators that iterations seed."""
    start = f"{names.dlb}.{'keep_each' if each else 'keep'}("
    return _given(start, [f"{name}={name}" for name in kept]) or ((f"{start})",) if plan.seeded else ())


def _given(start: str, items: Sequence[str], depth: int = 2) -> tuple[str, ...]:
    """A call with these arguments, ``depth`` blocks deep; none without arguments."""
    return (deeper(called(start, items, ")", WIDTH - depth * len(INDENT)), depth),) if items else ()


def _is_per_iteration(reduction: Reduction) -> bool:
    """Whether the updates of an iteration are combined at its end, since there are several."""
    return reduction.multiple_updates and not reduction.any_order and reduction.operator in ARITHMETIC


def _constructor(reduction: Reduction) -> str:
    """The runtime's constructor of the reduction."""
    if reduction.element:
        return "ELEMENTS"
    if reduction.operator == LAST:
        return "LAST"
    return "SELECT" if reduction.operator in COMPARISONS else "REDUCE"


def _declared(reduction: Reduction, names: GeneratedNames) -> str:
    """How the reduction is declared: a call of the runtime's constructor."""
    any_order = reduction.any_order and (reduction.element or reduction.operator in ARITHMETIC)
    keywords = {
        f"by={quoted(reduction.by)}": bool(reduction.by),
        "several=True": _is_per_iteration(reduction),
        "none_first=True": reduction.none_first,
        "integer=True": reduction.element and reduction.integer,
        "grows=True": reduction.may_insert,
        'order="any"': any_order,
    }
    companions = map(quoted, reduction.companions)
    chosen = (text for text, holds in keywords.items() if holds)
    operator = [] if reduction.operator == LAST else [quoted(reduction.operator)]
    arguments = ", ".join([*operator, *companions, *chosen])
    return f"{names.of(_constructor(reduction))}({arguments})"


def _listed(start: str, rows: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    return (table(start, [], rows),) if rows else ()


def _grouped(plan: LoopPlan, *, grows: bool) -> list[tuple[str, str]]:
    rows = [("", quoted(o.name)) for o in plan.ordered if o.by_item and o.grows == grows]
    return [*rows, ("grows", "True")] if rows and grows else rows


def _items(plan: LoopPlan, names: GeneratedNames) -> tuple[str, ...]:
    rows = [(text, str(number)) for text, number in plan.items]
    return (table(f"{names.dlb}.items(", [], rows),) if rows else ()


def _watched(plan: LoopPlan, names: GeneratedNames) -> tuple[str, ...]:
    """The calls of which the runtime looks what they change, with their lines in the source."""
    items = [f"{quoted(_shortened(call))}: {line}" for call, line in plan.watched]
    lists = {
        "private": [f'"{name}"' for name in plan.parameters if name in plan.loop.annotation.private_names],
        "seeds": [each for each in plan.seeds if isinstance(each, str)],
        "seed_items": [str(each) for each in plan.seeds if isinstance(each, int)],
    }
    end = "".join(f", {name}=[{', '.join(listed)}]" for name, listed in lists.items() if listed)
    text = called(f"{names.dlb}.watch({{", items, f"}}{end})", WIDTH - len(INDENT))
    return (deeper(text, 1),) if items else ()


def _shortened(text: str) -> str:
    """The text of a call, short enough for a line."""
    return text if len(text) <= _MAX_CALL_TEXT else f"{text[:_MAX_CALL_TEXT]}.."


def _schedule(plan: LoopPlan) -> tuple[str, ...]:
    if plan.strategy is None:
        return ()
    group = "" if plan.group is None else f", group={plan.group}"
    return (f'"{plan.strategy}"{group}',)


def _entry(array: ArrayPlan, plan: LoopPlan, names: GeneratedNames) -> str:
    fields = [] if array.axis is None else [str(array.axis)]
    fields.append(f'"{array.mode.value}"')
    if array.rows:
        fields.append(f"rows={_footprint(array.rows, plan)}")
    if array.writes is not None:
        fields.append(f"writes={_footprint(array.writes, plan)}")
    if array.in_place:
        fields.append("in_place=True")
    if array.inspect:
        fields.append("inspect=True")
    if array.overwritten:
        fields.append(f"overwritten=lambda: {' and '.join(array.overwritten)}")
    if "[" in array.name:
        fields.append(f"of=lambda: {array.name}")
    return f"{names.of(array.distribution.value)}({', '.join(fields)})"


def _footprint(rows: tuple[str, ...], plan: LoopPlan) -> str:
    text = rows[0] if len(rows) == 1 else f"({', '.join(rows)})"
    index, items = plan.space.index, plan.space.items
    of_items = not names_in(text).isdisjoint(set(items) - {index})
    return f"lambda {', '.join(items) if of_items else index}: {text}"


def build_call(plan: LoopPlan, names: GeneratedNames, kernel: str, setting: Setting) -> CallContext:
    """The call of a kernel; its second argument is ``_``, in place of the user's iterable."""
    written = {mangled: name for name, mangled in plan.mangled}
    plain = [written.get(p, p) for p in plan.parameters]
    unsure = {written.get(p, p) for p in plan.unsure}
    arguments = [f"{names.dlb}.bound(lambda: {p})" if p in unsure else p for p in plain]
    loop = plan.loop.node
    width = WIDTH - loop.col_offset - setting.depth * len(INDENT)
    more = len(plan.space.text) - len("_")
    if plan.cost is not None and not plan.cost.derived:
        arguments.append(cost_at_call(plan.cost, names, width))
    perhaps, surely = _read_after(plan)
    simply = not (perhaps or plan.targets_live or plan.seen_after_failure)
    live = bool(perhaps or plan.targets_live or (surely and not simply))
    targets = [names.result] if live else [written.get(key, key) for key in surely]
    items = [kernel, "_", *arguments]
    start = f"{setting.session}.{'result_of' if live else 'run'}("
    call = assigned(targets, start, items, width, more) if targets else called(start, items, ")", width, more)
    return CallContext(
        ahead=tuple(f"{setting.session}.read({text})" for text in setting.ahead),
        call=call,
        result=names.result,
        items=(names.result,) if plan.targets_live else (),
        perhaps=tuple((written.get(key, key), key) for key in perhaps),
        surely=tuple((written.get(key, key), key) for key in surely) if live else (),
        check=(names.result,) if live else (),
        # It would be an attribute of the class.
        forget=(names.result,) if live and isinstance(plan.loop.scope, ast.ClassDef) else (),
    )


def _read_after(plan: LoopPlan) -> tuple[list[str], list[str]]:
    """The names that the loop binds: those that may have no value, and those that always have one."""
    bound = [n for n in _reduced(plan) if n.isidentifier()]
    surely = [r.name for r in plan.reductions if r.name in bound and r.name not in plan.unsure]
    reduced = [n for n in bound if n not in surely]
    return [*plan.definite, *plan.conditional, *reduced], surely


def build_ahead_function(name: str, parameters: Sequence[str]) -> AheadContext:
    """The function that goes through passes of a routine."""
    return AheadContext(called(f"def {name}(", parameters, "):", WIDTH))


def build_ahead_call(plan: RoutinePlan, function: str, routine: str, target: str, space: str) -> str:
    """The statement with which each pass of a routine's loop begins."""
    assert plan.foreseen is not None
    width = WIDTH - plan.routine.node.col_offset - 2 * len(INDENT)
    return called(f"{routine}.ahead(", [function, target, space, *plan.foreseen], ")", width)


def build_routine(
    routine: AnnotatedRoutine,
    plain: Sequence[str],
    outer: str,
    name: str,
    depth: int,
    origin: str,
    *,
    narrowing: bool,
) -> RoutineContext:
    """The block around a routine, ``depth`` blocks deeper than its loop was; ``outer`` begins it."""
    clause = routine.annotation.iterate
    assert clause is not None
    origin = f"{origin}:{routine.node.lineno}"
    values = f"{plain[0]}," if len(plain) == 1 else ", ".join(plain)
    arguments = [f"lambda: ({values})"] if plain else []
    texts = {"model": f'"{clause.model}"', "tolerance": repr(clause.tolerance)}
    texts |= {key: str(getattr(clause, key)) for key in ("every", "checkpoint")}
    defaults = replace(clause, model="piecewise", tolerance=0.05, every=1, checkpoint=None)
    given = [key for key in texts if getattr(clause, key) != getattr(defaults, key)]
    arguments += [f"{key}={texts[key]}" for key in given]
    arguments += ["narrowing=True"] if narrowing else []
    width = WIDTH - routine.node.col_offset - depth * len(INDENT)
    start, end = f"with {outer}.iterate(", f") as {name}:"
    line = start + ", ".join(arguments) + end
    if len(f"{line}  # {origin}") > width and arguments:
        line = "\n".join([start, *(f"{INDENT}{argument}," for argument in arguments), end])
    return RoutineContext(line, origin)
