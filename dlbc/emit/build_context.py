"""From a plan to the flat text fields that the templates print: every decision of layout is made here."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from textwrap import wrap

from dlbrt.contract import Distribution

from dlbc.emit.choose_names import Names
from dlbc.ir.cost_plan import CostPlan, CostShape, Folded
from dlbc.ir.loop import Routine
from dlbc.ir.mangling import swapped
from dlbc.ir.plan import ArrayPlan, LoopPlan
from dlbc.ir.proof import Status
from dlbc.ir.reduction import Reduction

__all__ = [
    "CallContext",
    "KernelContext",
    "PrologueContext",
    "RoutineContext",
    "Setting",
    "build_call",
    "build_kernel",
    "build_prologue",
    "build_routine",
]

#: Operators whose order can be given up.
ARITHMETIC = frozenset({"+", "-", "*", "&", "|", "^"})
_WIDTH = 88
#: Beside a chain of names to clear: its indentation, and what is assigned.
_UNSET_ROOM = 24
#: How many characters of names a comment holds.
_MOST_NAMES = 60
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class PrologueContext:
    """Lines that start the runtime: imports as they follow ``import``, the session's name."""

    numpy_imports: tuple[str, ...]
    mpi_import: str
    mpi: str
    runtime_import: str
    runtime: str
    distribution_imports: tuple[str, ...]
    dlb: str


@dataclass(frozen=True, slots=True)
class KernelContext:
    """One kernel.

    ``schedule``, ``reductions``, ``ordered``, ``keep`` and ``combine`` hold one text or none, ``require`` a
    text for each condition, ``work`` the calls that speak of the work of iterations; ``turns`` is the call
    that gives the iterations, ``comment`` says which; ``partial`` are the names of which a rank has its part,
    ``unset`` those to clear, as chains of targets, ``fold`` those whose share is taken at each iteration.
    """

    head: str
    dlb: str
    schedule: tuple[str, ...]
    require: tuple[str, ...]
    work: tuple[str, ...]
    arrays: str
    reductions: tuple[str, ...]
    ordered: tuple[str, ...]
    partial: tuple[str, ...]
    unset: tuple[str, ...]
    turns: str
    comment: str
    fold: tuple[str, ...]
    keep: tuple[str, ...]
    combine: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallContext:
    """One call; ``results`` pairs a temporary with its key, ``items`` holds one name if targets are live.

    ``ahead`` are statements above it.
    """

    ahead: tuple[str, ...]
    call: str
    after: str
    items: tuple[str, ...]
    results: tuple[tuple[str, str], ...]
    finish: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoutineContext:
    """The block around a routine: its first line, and what the comment there says."""

    head: str
    place: str


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a call stands: the name that runs loops there, how many blocks further in than in the source.

    ``ahead`` is what rank 0 looks into before the loop.
    """

    session: str
    depth: int = 0
    ahead: tuple[str, ...] = ()


def build_prologue(plans: Sequence[LoopPlan], names: Names) -> PrologueContext:
    """What the program imports, and its session."""
    used = {a.distribution.value for plan in plans for a in plan.arrays}
    if any(plan.iterations is Distribution.CYCLIC for plan in plans):
        used.add(Distribution.CYCLIC.value)
    listed = [_renamed(name, ours) for name, ours in names.distributions if name in used]
    numpy = names.imports_numpy and any(plan.cost is not None and plan.cost.uses_numpy for plan in plans)
    return PrologueContext(
        numpy_imports=(f"numpy as {names.numpy}",) if numpy else (),
        mpi_import=_renamed("MPI", names.mpi),
        mpi=names.mpi,
        runtime_import=_renamed("dlbrt", names.runtime),
        runtime=names.runtime,
        distribution_imports=(", ".join(listed),) if listed else (),
        dlb=names.dlb,
    )


def _renamed(name: str, ours: str) -> str:
    return name if name == ours else f"{name} as {ours}"


def build_kernel(plan: LoopPlan, names: Names, kernel: str, origin: str) -> KernelContext:
    """The kernel of a plan; ``origin`` is the source file's name as the comment shows it."""
    cyclic = plan.iterations is Distribution.CYCLIC
    table = [names.distribution("CYCLIC")] if cyclic else []
    rows = [(a.name, _entry(a, plan, names)) for a in plan.arrays]
    place = f"{origin}:{plan.loop.node.lineno}, {_standing(plan)}"
    pairs = plan.folded is not Folded.NO
    context = KernelContext(
        head=_filled(f"def {kernel}(", names.dlb, plan.parameters, f"):  # {place}", _WIDTH),
        dlb=names.dlb,
        schedule=_schedule(plan),
        require=tuple(f"lambda: {guard}, {_quoted(guard)}" for guard in plan.guards),
        work=tuple(_work(plan, names)),
        arrays=_table(f"{names.dlb}.arrays(", table, rows),
        reductions=_listed(f"{names.dlb}.reductions(", [f'{r.name}="{_kind(r)}"' for r in plan.reductions]),
        ordered=_listed(f"{names.dlb}.ordered(", [f'"{o.name}"' for o in plan.ordered]),
        partial=(*(r.name for r in plan.reductions), *(o.name for o in plan.ordered)),
        unset=_unset(plan),
        turns="iterations(each=True)" if cyclic and plan.conditional else "iterations()",
        comment="this rank's share",
        fold=tuple(r.name for r in plan.reductions if _folded(r)),
        keep=_given(f"{names.dlb}.keep(", (*plan.definite, *plan.conditional)),
        combine=_given(f"{names.dlb}.combine(", _combined(plan)),
    )
    return _in_pairs(context) if pairs else context


def _in_pairs(context: KernelContext) -> KernelContext:
    """The kernel of a loop that is dealt in pairs; what belongs to a run in order takes the sides apart."""
    in_order = context.partial or context.unset or context.fold or context.keep or context.combine
    if context.turns == "iterations()":
        turns = "pairs(apart=True)" if in_order else "pairs()"
    else:
        turns = "pairs(each=True)"
    return replace(context, turns=turns, comment="this rank's pairs of iterations, t and n-1-t")


def _work(plan: LoopPlan, names: Names) -> Iterator[str]:
    """What the kernel says of the work of its iterations."""
    if plan.cost is not None and plan.cost.derived:
        yield _call("cost", _cost(plan.cost, names, dict(plan.mangled)), len(names.dlb))
    if plan.profile is not None:
        clause = plan.profile
        yield f"profile(group={clause.group}, every={clause.every}, threshold={clause.threshold!r})"
    if plan.folded is not Folded.NO:
        yield "folded(always=True)" if plan.folded is Folded.FORCED else "folded()"


def _call(name: str, argument: Sequence[str], more: int) -> str:
    """A call of the session, whose name has ``more`` characters; a long argument has lines of its own."""
    line = f"{name}({''.join(argument)})"
    if len(_INDENT) + more + 1 + len(line) <= _WIDTH:
        return line
    return "\n".join([f"{name}(", *_on_lines(argument, 2, _WIDTH), _INDENT + ")"])


def _on_lines(argument: Sequence[str], depth: int, width: int) -> list[str]:
    """A long argument, given in parts, on lines as deep as said; what stands inside it lies deeper."""
    start, *inner, end = argument if len(argument) > 1 else ("", argument[0])
    within = [line for text in inner for line in _wrapped(text, depth + 1, width)]
    return [*_wrapped(start, depth, width), *within, *_wrapped(end, depth, width)]


def _wrapped(text: str, depth: int, width: int) -> list[str]:
    """The text on lines as deep as said, and those that go on deeper; with quotes in it, on one line."""
    indent = _INDENT * depth
    if {"'", '"'} & set(text):
        return [indent + text.strip()]
    return wrap(
        text.strip(),
        width,
        initial_indent=indent,
        subsequent_indent=indent + _INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _cost(cost: CostPlan, names: Names, mangled: dict[str, str]) -> tuple[str, ...]:
    """The argument of the call, a function that is evaluated before the loop, in parts where it may break."""
    text, target = swapped(cost.expression(names.numpy), mangled), swapped(cost.target, mangled)
    match cost.shape:
        case CostShape.VECTOR:
            return (f"lambda {target}: {text}",)
        case CostShape.CUMULATIVE:
            return (f"cumulative=lambda {target}: {text}",)
        case CostShape.FIT:
            return (f"fit=lambda: {text}",)
    bound = [(name, swapped(call, mangled)) for name, call in cost.bound]
    every = ast.walk(ast.parse(f"[({target}), {text}, {', '.join(call for _, call in bound)}]"))
    taken = {node.id for node in every if isinstance(node, ast.Name)}
    items = next(name for name in _names_for_items() if name not in taken)
    calls = (f" for {name} in [{call}]" for name, call in bound)
    return (f"each=lambda {items}: [", text, f" for {target} in {items}", *calls, "]")


def _names_for_items() -> Iterator[str]:
    yield "items"
    yield from (f"items_{number}" for number in count(2))


def _standing(plan: LoopPlan) -> str:
    """On what the loop's independence rests; outside functions by name, as far as a comment can hold them."""
    names = ", ".join(plan.outside)
    fits = len(names) <= _MOST_NAMES and names.isascii() and names.isprintable()
    if plan.status is not Status.CONDITIONAL or not fits:
        return plan.status.value
    return f"proven if {names} {'has' if len(plan.outside) == 1 else 'have'} no side effects"


def _unset(plan: LoopPlan) -> tuple[str, ...]:
    """The names to clear before a run, as targets of as many assignments as they need lines.

    Those that each iteration sets too: one that fails before it does must not leave what another run left.
    """
    names = [*plan.definite, *plan.conditional, *(c for r in plan.reductions for c in r.companions)]
    chains = [""]
    for name in names:
        longer = f"{chains[-1]} = {name}" if chains[-1] else name
        chains[-1:] = [longer] if len(longer) + _UNSET_ROOM <= _WIDTH else [chains[-1], name]
    return tuple(filter(None, chains))


def _combined(plan: LoopPlan) -> tuple[str, ...]:
    """The names bound by reductions, in their order."""
    return tuple(n for r in plan.reductions if not r.element for n in (r.name, *r.companions))


def _given(start: str, names: Sequence[str]) -> tuple[str, ...]:
    """A call, two blocks deep, that is given the values of names."""
    if not names:
        return ()
    pairs, depth = [f"{name}={name}" for name in names], 2 * _INDENT
    return (_filled(start, pairs[0], pairs[1:], ")", _WIDTH - len(depth)).replace("\n", "\n" + depth),)


def _folded(reduction: Reduction) -> bool:
    """Whether each iteration's share is taken at its end: several updates make it."""
    return reduction.several and not reduction.any_order


def _kind(reduction: Reduction) -> str:
    """The kind as the runtime reads it: the operator, then words."""
    sign = f"[{reduction.operator}]" if reduction.element else reduction.operator
    words = {
        "int": reduction.element and reduction.integer,
        "grows": reduction.grows,
        "each": _folded(reduction),
        "any": reduction.any_order and (reduction.element or reduction.operator in ARITHMETIC),
    }
    return " ".join([sign, *(word for word, holds in words.items() if holds), *reduction.companions])


def _quoted(text: str) -> str:
    """The text as a literal in double quotes, as far as it has none."""
    shown = repr(text)
    return f'"{shown[1:-1]}"' if shown[0] == "'" and '"' not in shown else shown


def _listed(start: str, items: Sequence[str]) -> tuple[str, ...]:
    return (_table(start, items, []),) if items else ()


def _schedule(plan: LoopPlan) -> tuple[str, ...]:
    if plan.strategy is None:
        return ()
    group = "" if plan.group is None else f", group={plan.group}"
    return (f'"{plan.strategy}"{group}',)


def _table(start: str, dealt: Sequence[str], rows: Sequence[tuple[str, str]]) -> str:
    """The array table on one line, or where that is too long one array on a line."""
    plain = [*dealt, *(f"{name}={entry}" for name, entry in rows if "." not in name)]
    dotted = [f'"{name}": {entry}' for name, entry in rows if "." in name]
    together = [*plain, "**{" + ", ".join(dotted) + "}"] if dotted else plain
    line = start + ", ".join(together) + ")"
    if len(_INDENT) + len(line) <= _WIDTH:
        return line
    items = [*plain, *("**{" + pair + "}" for pair in dotted)]
    return "\n".join([start, *(f"{_INDENT}{_INDENT}{item}," for item in items), _INDENT + ")"])


def _entry(array: ArrayPlan, plan: LoopPlan, names: Names) -> str:
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
    return f"{names.distribution(array.distribution.value)}({', '.join(fields)})"


def _footprint(rows: tuple[str, ...], plan: LoopPlan) -> str:
    text = rows[0] if len(rows) == 1 else f"({', '.join(rows)})"
    return f"lambda {plan.space.index}: {text}"


def build_call(plan: LoopPlan, names: Names, kernel: str, setting: Setting) -> CallContext:
    """The call of a kernel; its second argument is ``_``, where the user's iterable is put."""
    written = {mangled: name for name, mangled in plan.mangled}
    plain = [written.get(p, p) for p in plan.parameters]
    unsure = {written.get(p, p) for p in plan.unsure}
    arguments = [f"{names.dlb}.bound(lambda: {p})" if p in unsure else p for p in plain]
    keys = (*plan.definite, *plan.conditional, *_combined(plan))
    results = tuple((written.get(key, key), key) for key in keys)
    live = bool(results) or plan.targets_live
    start = f"{names.after} = {setting.session}.attempt(" if live else f"{setting.session}.run("
    loop = plan.loop.node
    column = loop.col_offset + setting.depth * len(_INDENT)
    width, iterable = _WIDTH - column, len(ast.unparse(loop.iter))
    if plan.cost is not None and not plan.cost.derived:
        arguments.append(_given_cost(plan.cost, names, width))
    return CallContext(
        ahead=tuple(f"{setting.session}.read({text})" for text in setting.ahead),
        call=_filled(start, f"{kernel}, _", arguments, ")", width, iterable),
        after=names.after,
        items=(names.after,) if plan.targets_live else (),
        results=results,
        finish=(names.after,) if live else (),
    )


def build_routine(
    routine: Routine, plain: Sequence[str], outer: str, name: str, depth: int, origin: str
) -> RoutineContext:
    """The block around a routine, ``depth`` blocks further in than its loop was; it begins at ``outer``."""
    clause = routine.annotation.iterate
    assert clause is not None
    values = f"{plain[0]}," if len(plain) == 1 else ", ".join(plain)
    arguments = [f"lambda: ({values})"] if plain else []
    said = {"model": f'"{clause.model}"', "tolerance": repr(clause.tolerance), "every": str(clause.every)}
    usual = replace(clause, model="piecewise", tolerance=0.05, every=1)
    chosen = [key for key in said if getattr(clause, key) != getattr(usual, key)]
    arguments += [f"{key}={said[key]}" for key in chosen]
    width = _WIDTH - routine.node.col_offset - depth * len(_INDENT)
    start, end = f"with {outer}.iterate(", f") as {name}:"
    line = start + ", ".join(arguments) + end
    if len(line) > width and arguments:
        line = "\n".join([start, *(f"{_INDENT}{argument}," for argument in arguments), end])
    return RoutineContext(line, f"{origin}:{routine.node.lineno}")


def _given_cost(cost: CostPlan, names: Names, width: int) -> str:
    """The user's word on the work, among the arguments of the call: there its names are the program's own."""
    parts = _cost(cost, names, {})
    if cost.shape is CostShape.VECTOR:
        parts = (f"cost={parts[0]}",)
    if len(_INDENT) + len("".join(parts)) < width:
        return "".join(parts)
    first, *others = _on_lines(parts, 1, width)
    return "\n".join([first.strip(), *others])


def _filled(start: str, first: str, items: Sequence[str], end: str, width: int, more: int = 0) -> str:
    """``first`` and the items on one line, or where that is too long on lines filled up to the width.

    ``more`` characters are added to ``first`` later.
    """
    line = start + ", ".join([first, *items]) + end
    if len(line) + more <= width:
        return line
    lines = [f"{_INDENT}{first},"]
    for item in items:
        if len(lines[-1]) + len(item) + 2 + (more if len(lines) == 1 else 0) <= width:
            lines[-1] += f" {item},"
        else:
            lines.append(f"{_INDENT}{item},")
    return "\n".join([start, *lines, end])
