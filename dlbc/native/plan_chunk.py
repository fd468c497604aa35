"""From a loop's plan to its chunk functions: which names they take, what Python does afterwards, in which
orders.

The functions are text, since they stand in the generated program. Names of the runtime and of the functions
themselves are chosen when that is written (`dlbc.emit`).
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dlbrt.contract import Mode

from dlbc.analysis.container_kinds import ContainerKinds
from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.uses import bound_names, every_node
from dlbc.ir.access_path import root_of
from dlbc.ir.chunk import CHUNK, RUNTIME, ChunkForm, ChunkPlan
from dlbc.ir.plan import LoopPlan, Reduction
from dlbc.native.facts import (
    BodyFacts,
    ChunkNames,
    LoweredBody,
    NotCompilableError,
    array_of,
    row_text,
)
from dlbc.native.inner_counters import last_counters
from dlbc.native.iterated import Iterated, iterated
from dlbc.native.local_arrays import allocation_of, check_lists
from dlbc.native.lower_body import lower_body
from dlbc.native.module_values import function_of, number_of, read_by_functions, tuple_of
from dlbc.native.restructure import Nest, restructure
from dlbc.native.row_names import RowContext, place_rows
from dlbc.native.scalars import Kind

#: Statements with which loops do not end as their bounds say, or iterations are left to Python.
_LEAVING = ast.While | ast.Break | ast.Continue | ast.Return

#: Operators of values that are the least or greatest.
_EXTREMES = frozenset({"min", "max", "<", "<=", ">", ">="})

#: Attributes that are not looked up as values of their own.
_OF_ARRAYS = frozenset({"shape", "size", "ndim", "T", "dtype"})


def plan_chunk(context: AnalysisContext, plan: LoopPlan) -> ChunkPlan:
    """The chunk functions of a loop; raises NotCompilableError."""
    loop = plan.loop.node
    if plan.mangled or plan.watched:
        raise NotCompilableError(
            "its body uses objects of the program's classes, or calls what is not seen", loop
        )
    read = dict.fromkeys(read_by_functions(context))
    nodes = (n for each in (loop.target, *loop.body) for n in every_node(each))
    taken = {n.id for n in nodes if isinstance(n, ast.Name)} | {*plan.parameters, *read}
    names = _chunk_names(taken)
    given = _given(plan, taken)
    in_range = context.names.counter_in_range
    over = iterated(plan, context.module, given, lambda stem: _fresh(stem, taken), in_range=in_range)
    index = over.index
    counters = _last_counters(context, plan, over)
    if unkept := [name for name in plan.conditional if name not in counters]:
        reason = f"`{unkept[0]}` is read after the loop, and only some iterations set it"
        raise NotCompilableError(reason, loop)
    given |= {name: name for name, _ in over.sequences}
    facts = _facts(context, plan, index, names, given)
    if not over.start:
        facts = replace(facts, rows={**facts.rows, **{name: 0 for name, _ in over.sequences}})
    facts = replace(
        facts, parameters={**facts.parameters, **{n: n for n in read if n not in facts.parameters}}
    )
    facts = replace(facts, lists=dict(_lists(context, facts, over)))
    facts = replace(facts, kept=tuple(name for name in plan.definite if name not in counters))
    body, facts = _with_rows(context, facts, taken, over.begin)
    lowered = lower_body(body, facts)
    _refuse_lists(context, lowered)
    if lowered.effects and all(isinstance(statement, ast.Pass) for statement in lowered.statements):
        raise NotCompilableError("its body computes no numbers", loop)
    lasts = [statement for found in counters.values() for statement in found]
    effects, takes_items = over.with_items([*lowered.effects, *lasts], plan.parameters, context.names.rebound)
    order = {name: number for number, name in enumerate(facts.parameters)}
    parameters = tuple((facts.parameters[name], name) for name in sorted(lowered.used, key=order.__getitem__))
    written = _as_written(index, names, facts, lowered, parameters)
    forms, reasons = _restructured(plan, names, facts, lowered, parameters)
    return ChunkPlan(
        forms=(*forms, written),
        reasons=reasons,
        parameters=parameters,
        fits=tuple(lowered.conditions),
        bounds=(names.low, names.high),
        columns=tuple(lowered.columns),
        note_rows=tuple(lowered.note_rows),
        noted=tuple(lowered.noted.items()),
        origins=tuple(facts.parameters.get(name, name) for name in lowered.origins),
        effects=tuple(map(ast.unparse, effects)),
        axes=tuple((facts.parameters[name], count) for name, count in lowered.axes.items()),
        stored=_renamed(facts, lowered.stored),
        index_only=_renamed(facts, lowered.index_only),
        arrays=_renamed(facts, lowered.shaped),
        integers=_renamed(facts, lowered.integers),
        floats=_renamed(facts, lowered.floats),
        python=_renamed(facts, lowered.python),
        real=_renamed(facts, lowered.real),
        bits=lowered.bits,
        in_place=lowered.in_place or _needs_order(plan, lowered),
        rows=tuple((facts.parameters[array], axis) for array, axis in sorted(lowered.restored.items())),
        differing=tuple(lowered.notes),
        sequences=over.sequences,
        takes_items=takes_items,
    )


def _refuse_lists(context: AnalysisContext, lowered: LoweredBody) -> None:
    """Raise NotCompilableError where the runtime would find a list that compiled code does not take."""
    kinds, loop = ContainerKinds(context, by_calls=True), context.loop.node
    if stored := next(filter(kinds.is_list, sorted(lowered.stored)), ""):
        raise NotCompilableError(f"`{stored}` is a list to which iterations store", loop)
    read = sorted(lowered.axes.keys() - lowered.index_only - lowered.integers)
    if integers := next(filter(kinds.is_list_of_integers, read), ""):
        reason = f"`{integers}` is a list of integers, which in Python have any size"
        raise NotCompilableError(reason, loop)


def _facts(
    context: AnalysisContext, plan: LoopPlan, index: str, names: ChunkNames, given: dict[str, str]
) -> BodyFacts:
    contributed = _contributed(plan)
    rows = {
        array.name: array.axis
        for array in plan.arrays
        if array.axis is not None and (array.rows if array.writes is None else array.writes) in ((), (index,))
    }
    shares = [r for r in plan.reductions if _is_share(r)]
    whole = (r for r in plan.reductions if r not in shares)
    effects: set[ast.AST] = {u for r in whole for u in r.updates}
    effects |= {e for o in plan.ordered for e in o.effects}
    effects |= {n for n in every_node(plan.loop.node) if _prints(n) and context.module.builtin("print")}
    effects |= set(_list_stores(context))
    return BodyFacts(
        index=index,
        names=names,
        parameters=given,
        rows=rows,
        imported=context.module.imported_name,
        builtin=context.module.builtin,
        effects=frozenset(effects),
        contributed=frozenset(contributed | {root_of(name) for name in contributed}),
        extremes={r.name: r.operator for r in plan.reductions if r.operator in _EXTREMES and not r.element},
        shares={r.name: r.operator for r in shares},
        functions=lambda name: function_of(context, name),
        numbers=lambda name: number_of(context, name),
        constants=lambda name: tuple_of(context, name),
    )


def _last_counters(context: AnalysisContext, plan: LoopPlan, over: Iterated) -> dict[str, list[ast.stmt]]:
    """What gives the counters of inner loops the last values that are read after the loop."""
    changed = _contributed(plan) | {array.name for array in plan.arrays if array.mode is not Mode.READ}
    readable = {name for name in plan.parameters if name not in changed}
    if not over.sequences:
        readable.add(over.index)
    body = context.loop.node.body
    return last_counters(body, (*plan.definite, *plan.conditional), readable, context.module)


def _given(plan: LoopPlan, taken: set[str]) -> dict[str, str]:
    """What the loop is given and contributes nothing to, with the names of the parameters for it."""
    contributed = _contributed(plan)
    given = {name: name for name in plan.parameters if name not in contributed}
    for text in dict.fromkeys(_chains(plan.loop.node, given)):
        if text not in contributed:
            given[text] = _fresh(text.replace(".", "_"), taken)
    return given


def _contributed(plan: LoopPlan) -> set[str]:
    """The names of what iterations contribute to."""
    contributed = {r.name for r in plan.reductions} | {c for r in plan.reductions for c in r.companions}
    return contributed | {o.name for o in plan.ordered}


def _with_rows(
    context: AnalysisContext, facts: BodyFacts, taken: set[str], begin: Sequence[ast.stmt]
) -> tuple[list[ast.stmt], BodyFacts]:
    """A copy of the body, after statements, with rows in the place of names; and the facts of this copy."""
    body = context.loop.node.body
    check_lists(body, lambda node: allocation_of(node, facts.imported, facts.builtin))
    copies: dict[int, ast.AST] = {}
    copied = [*begin, *copy.deepcopy(list(body), copies)]
    facts = replace(facts, effects=frozenset(copies[id(e)] for e in facts.effects if id(e) in copies))
    bound = bound_names(body)
    made = {
        statement.targets[0].id
        for s in copied
        for statement in ast.walk(s)
        if isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Name)
        and len(bound.get(statement.targets[0].id, ())) == 1  # else it may be made anew meanwhile
        and allocation_of(statement.value, facts.imported, facts.builtin) is not None
    }
    contributed = facts.contributed | set(facts.kept)

    def is_array(node: ast.expr) -> bool:
        if isinstance(node, ast.Name) and node.id in bound:
            return node.id in made
        if isinstance(node, ast.Name) and facts.constants(node.id) is not None:
            return False
        known = isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) in facts.parameters
        return known and ast.unparse(node) not in facts.contributed

    place_rows(
        copied,
        RowContext(
            is_array,
            facts.builtin,
            facts.functions,
            lambda stem: _fresh(stem, taken),
            ContainerKinds(context, by_calls=True).is_list,
            frozenset(contributed),
            facts.effects,
        ),
    )
    return copied, facts


def _is_share(reduction: Reduction) -> bool:
    """Whether the updates of an iteration are combined before they contribute."""
    once = reduction.element or reduction.companions or not reduction.multiple_updates
    return not once and reduction.operator in ("+", "*") and reduction.name.isidentifier()


def _lists(context: AnalysisContext, facts: BodyFacts, over: Iterated) -> Iterator[tuple[str, Kind]]:
    """The lists that a body is given, with the kind of their elements, where the text shows it."""
    kinds = ContainerKinds(context, by_calls=True)
    texts = {**{n: n for n in facts.parameters}, **dict(over.texts)}
    for name, text in texts.items():
        if text.isidentifier() and kinds.is_list_of_floats(text):
            yield name, Kind.INEXACT
        elif text.isidentifier() and kinds.is_list_of_integers(text):
            yield name, Kind.INTEGER


def _list_stores(context: AnalysisContext) -> Iterator[ast.stmt]:
    """Stores to elements of lists that are not used otherwise: Python does them."""
    stores: dict[str, list[ast.stmt]] = {}
    for node in every_node(context.loop.node):
        match node:
            case (
                ast.Assign(targets=[ast.Subscript() as target])
                | ast.AugAssign(target=ast.Subscript() as target)
            ):
                if isinstance(array := array_of(target), ast.Name | ast.Attribute):
                    stores.setdefault(ast.unparse(array), []).append(node)
    nodes = (n for statement in context.body for n in every_node(statement))
    named = (n for n in nodes if isinstance(n, ast.Name | ast.Attribute))
    uses = Counter(map(ast.unparse, named)) if stores else Counter[str]()
    kinds = ContainerKinds(context, by_calls=True)
    for name, found in stores.items():
        if uses[name] == len(found) and kinds.is_list(name):
            yield from found


def _prints(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"


def _chains(loop: ast.For, given: dict[str, str]) -> Iterator[str]:
    """Attributes that are looked up in the body, of objects that the loop is given."""
    called = {n.func for n in every_node(loop) if isinstance(n, ast.Call)}
    for node in every_node(loop):
        if isinstance(node, ast.Attribute) and node not in called and node.attr not in _OF_ARRAYS:
            inner: ast.expr = node
            while isinstance(inner, ast.Attribute):
                inner = inner.value
            if isinstance(inner, ast.Name) and inner.id in given and isinstance(node.ctx, ast.Load):
                yield ast.unparse(node)


def _chunk_names(taken: set[str]) -> ChunkNames:
    names = ChunkNames(*(_fresh(name, taken) for name in ("first", "last", "step", "results", "low", "high")))
    while not taken.isdisjoint(names.derived(taken)):
        names = replace(names, mark=names.mark + "_")
    return names


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _renamed(facts: BodyFacts, arrays: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(facts.parameters[name] for name in arrays if name in facts.parameters))


def _head(names: ChunkNames, parameters: Sequence[tuple[str, str]]) -> list[str]:
    return [names.first, names.last, names.step, names.results, *(name for name, _ in parameters)]


def _function(name: str, parameters: Sequence[str], body: Sequence[ast.stmt]) -> str:
    arguments = ast.arguments([], [ast.arg(p) for p in parameters], None, [], [], None, [])
    definition = ast.FunctionDef(name, arguments, list(body), [], None, None)
    return ast.unparse(ast.fix_missing_locations(definition))


def _as_written(
    index: str,
    names: ChunkNames,
    facts: BodyFacts,
    lowered: LoweredBody,
    parameters: Sequence[tuple[str, str]],
) -> ChunkForm:
    """The loop in the order in which the user wrote it."""
    body = [*_saved(index, names, facts, lowered), *lowered.statements]
    statements = [*lowered.prologue, _loop(index, names, body), _return(names)]
    return ChunkForm(_function(CHUNK, _head(names, parameters), statements))


def _saved(index: str, names: ChunkNames, facts: BodyFacts, lowered: LoweredBody) -> list[ast.stmt]:
    """The statements that keep the rows which an iteration may have to put back."""
    found = ((facts.parameters[array], axis) for array, axis in lowered.saved.items())
    saved = [
        f"{names.before(name)} = {RUNTIME}.native.kept({row_text(name, axis, index)})" for name, axis in found
    ]
    return ast.parse("\n".join(saved)).body


def _loop(index: str, names: ChunkNames, body: list[ast.stmt]) -> ast.For:
    bounds = [ast.Name(name, ast.Load()) for name in (names.first, names.last, names.step)]
    call = ast.Call(ast.Name("range", ast.Load()), [*bounds], [])
    return ast.For(ast.Name(index, ast.Store()), call, body, [])


def _return(names: ChunkNames) -> ast.stmt:
    return ast.Return(ast.Name(names.last, ast.Load()))


def _restructured(
    plan: LoopPlan,
    names: ChunkNames,
    facts: BodyFacts,
    lowered: LoweredBody,
    parameters: Sequence[tuple[str, str]],
) -> tuple[tuple[ChunkForm, ...], tuple[str, ...]]:
    """Better orders of the loops, the best one first, and why there are no others."""
    clause = plan.loop.annotation.jit
    if clause is None or clause.as_written:
        return (), ()
    if lowered.wraps:
        return (), ("subscripts count from the end",)
    arrays = (*_renamed(facts, frozenset(lowered.axes)), *lowered.made)
    own = [name for name, _ in parameters]
    in_order = _needs_order(plan, lowered) or bool(lowered.columns or lowered.made)
    may_defer = not in_order and not lowered.saved
    tests = _Fitting()
    statements = [tests.visit(copy.deepcopy(s)) for s in lowered.statements]
    in_order = in_order or any(isinstance(n, _LEAVING) for s in statements for n in ast.walk(s))
    body = [*_saved(facts.index, names, facts, lowered), *statements]
    nest = Nest(
        loop=_loop(facts.index, names, body),
        first=names.first,
        last=names.last,
        step=names.step,
        arrays=arrays,
        numbers=tuple(name for name in own if name not in arrays),
        pure_calls=lowered.pure_calls | {f"{RUNTIME}.native.minimum2", f"{RUNTIME}.native.maximum2"},
        taken=frozenset({*own, *plan.parameters, names.results, RUNTIME}),
        in_order=in_order,
        no_floats=frozenset(name for name, kind in lowered.made.items() if kind is not Kind.INEXACT),
        may_defer=may_defer,
    )
    found = restructure(nest)
    made = lowered.prologue
    forms = (
        ChunkForm(
            _function(
                CHUNK, _head(names, parameters), [*made, *map(_with_numpy, variant.body), _return(names)]
            ),
            variant.what,
            tuple(sorted((variant.float_arrays | tests.arrays) - lowered.made.keys())),
            variant.strip,
        )
        for variant in found.variants
    )
    return tuple(forms), found.reasons


class _Fitting(ast.NodeTransformer):
    """Leaves out the tests whether integers fit into arrays, which then have to hold floats of 64 bits."""

    def __init__(self) -> None:
        self.arrays: set[str] = set()

    def visit_If(self, node: ast.If) -> ast.AST:
        match node.test:
            case ast.Call(func=ast.Attribute(attr="unfit"), args=[ast.Name(id=array), _]):
                self.arrays.add(array)
                return ast.Pass()
        return self.generic_visit(node)


def _with_numpy(statement: ast.stmt) -> ast.stmt:
    """The statement with numpy as the runtime knows it: the program may have no name for it."""
    for node in ast.walk(statement):
        match node:
            case ast.Attribute(value=ast.Name(id="numpy")):
                node.value = ast.Attribute(
                    ast.Attribute(ast.Name(RUNTIME, ast.Load()), "native", ast.Load()), "numpy", ast.Load()
                )
    return statement


def _needs_order(plan: LoopPlan, lowered: LoweredBody) -> bool:
    """Whether iterations must not overlap in time: they use one private object after the other, or that they
    are independent shows at run time alone, where they run in order if they are not.
    """
    private = plan.loop.annotation.private_names
    checked = bool(plan.guards) or any(array.inspect for array in plan.arrays)
    return checked or any(root_of(name) in private for name in lowered.stored)
