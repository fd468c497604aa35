"""Read the arguments of an annotation as clauses: one small reader per clause, found by its name.

To add a clause, add a row in ``_PARALLEL`` and its reader. `find_loops.check_clauses` checks clauses against
each other (contradictions, repeated names).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from dlbrt.contract import BASELINES, DISTRIBUTIONS, STRATEGIES, Distribution, nearest

from dlbc.ir.annotation import (
    Annotation,
    AnnotationKind,
    ArrayClause,
    CostClause,
    CostForm,
    IterateClause,
    NameClause,
    ProfileClause,
    ReductionClause,
    ScheduleClause,
)
from dlbc.parse.argument_list import AnnotationArgument, ClauseReader
from dlbc.source import SourcePlace

#: The strategies of the contract that this version has.
AVAILABLE = (*STRATEGIES, *BASELINES)
ITERATE_KEYS = ("model", "tolerance", "every")
_MODELS = ("piecewise", "akima", "constant")
_Call = ast.Call | None
_KINDS = tuple(kind.value for kind in AnnotationKind)


def read_annotation(reader: ClauseReader, place: SourcePlace) -> Annotation | None:
    """The annotation of a reader's arguments; None if no kind comes first. The reader collects the faults."""
    kind = _kind(reader, place)
    if kind is None:
        return None
    rest = reader.arguments.arguments[1:]
    annotation = Annotation(kind, place)
    if kind is AnnotationKind.ITERATE:
        return replace(annotation, iterate=_iterate(reader, rest))
    for argument in rest:
        annotation = _parallel_clause(reader, annotation, argument)
    return annotation


def _kind(reader: ClauseReader, place: SourcePlace) -> AnnotationKind | None:
    arguments = reader.arguments.arguments
    if not arguments:
        reader.add_problem("DLB102", place, found="nothing", hint="")
        return None
    first = arguments[0]
    word = first.value.id if isinstance(first.value, ast.Name) and not first.keyword else ""
    if word in _KINDS:
        return AnnotationKind(word)
    found = reader.arguments.text_of(first.value) if not first.keyword else f"{first.keyword}="
    reader.add_problem("DLB102", first.place, found=found[:60], hint=nearest(word, _KINDS) if word else "")
    return None


def _iterate(reader: ClauseReader, arguments: tuple[AnnotationArgument, ...]) -> IterateClause:
    model, tolerance, every = _MODELS[0], 0.05, 1
    seen: set[str] = set()
    for argument in arguments:
        key, value = argument.keyword, argument.value
        if key not in ITERATE_KEYS:
            _not_of_iterate(reader, argument)
        elif key in seen:
            reader.add_problem("DLB108", argument.place, clause=key)
        elif key == "model":
            model = reader.choice(value, key, _MODELS) or model
        elif key == "tolerance":
            number = reader.number(value, key)
            tolerance = tolerance if number is None else number
        else:
            every = reader.whole(value, key, 1) or every
        seen.add(key)
    return IterateClause(model, tolerance, every)


def _not_of_iterate(reader: ClauseReader, argument: AnnotationArgument) -> None:
    word = _clause_name(argument)
    if argument.keyword in ("", word) and word in CLAUSES:
        reader.add_problem("DLB113", argument.place, clause=word, other="parallel", kind="iterate")
    elif not argument.keyword and word in ITERATE_KEYS:
        reader.add_mismatch(argument.place, word, f"a value, written {word}=", word)
    else:
        _unknown(reader, argument, ITERATE_KEYS)


def _clause_name(argument: AnnotationArgument) -> str:
    node = argument.value.func if isinstance(argument.value, ast.Call) else argument.value
    if argument.keyword:
        return argument.keyword
    return node.id if isinstance(node, ast.Name) else ""


def _unknown(reader: ClauseReader, argument: AnnotationArgument, known: tuple[str, ...]) -> None:
    word = _clause_name(argument)
    if not word:
        wanted = f"a clause ({', '.join(known)})"
        reader.add_mismatch(argument.place, "the annotation", wanted, argument.value)
        return
    reader.add_problem(
        "DLB107", argument.place, clause=word, hint=nearest(word, known), known=", ".join(known)
    )


def _parallel_clause(
    reader: ClauseReader, annotation: Annotation, argument: AnnotationArgument
) -> Annotation:
    word = _clause_name(argument)
    if argument.keyword in ITERATE_KEYS or word in ITERATE_KEYS:
        reader.add_problem("DLB113", argument.place, clause=word, other="iterate", kind="parallel")
    elif word in _KINDS and not argument.keyword:
        reader.add_problem("DLB110", argument.place, one=annotation.kind.value, other=word)
    elif word not in _PARALLEL:
        _unknown(reader, argument, CLAUSES)
    elif argument.keyword:
        reader.add_mismatch(argument.place, word, f"arguments in brackets, {word}(...)", f"{word}=")
    elif word in ("schedule", "cost", "profile") and getattr(annotation, word) is not None:
        reader.add_problem("DLB108", argument.place, clause=word)
    else:
        call = argument.value if isinstance(argument.value, ast.Call) else None
        return _PARALLEL[word](reader, annotation, word, call, argument.place)
    return annotation


def _keywords(
    reader: ClauseReader, clause: str, call: ast.Call, keys: tuple[str, ...] = ()
) -> dict[str, ast.expr]:
    """The keyword arguments by name, each known and given once."""
    given: dict[str, ast.expr] = {}
    for keyword in call.keywords:
        key, place = keyword.arg or "**", reader.arguments.place_of(keyword)
        if key not in keys:
            wanted = f"no argument but {', '.join(k + '=' for k in keys)}" if keys else "no keyword argument"
            reader.add_mismatch(place, clause, wanted, f"{key}=", nearest(key, keys))
        elif key in given:
            reader.add_problem("DLB108", place, clause=f"{key}=")
        else:
            given[key] = keyword.value
    return given


def _names(reader: ClauseReader, clause: str, call: ast.Call, dotted: bool = False) -> tuple[str, ...]:
    if not call.args:
        reader.add_mismatch(
            reader.arguments.place_of(call), clause, "at least one name in the brackets", "none"
        )
    names = [reader.name(node, clause, dotted) for node in call.args]
    return tuple(name for name in names if name is not None)


def _read_distribution(
    reader: ClauseReader, annotation: Annotation, word: str, call: _Call, place: SourcePlace
) -> Annotation:
    axis: int | None = None
    names: tuple[str, ...] = ()
    if call is not None:
        keys = () if word == Distribution.WHOLE.value else ("axis",)
        given = _keywords(reader, word, call, keys)
        names = _names(reader, word, call, dotted=True)
        axis = reader.whole(given["axis"], "axis", 0) if "axis" in given else None
    elif any(not clause.arrays for clause in annotation.distributions):
        default = next(c for c in annotation.distributions if not c.arrays).distribution.value
        if default == word:
            reader.add_problem("DLB108", place, clause=word)
        else:
            reader.add_problem("DLB110", place, one=default, other=word)
    if call and not names:
        return annotation
    clause = ArrayClause(Distribution(word), names, axis, place)
    return replace(annotation, distributions=(*annotation.distributions, clause))


def _read_reduction(
    reader: ClauseReader, annotation: Annotation, word: str, call: _Call, place: SourcePlace
) -> Annotation:
    if call is None:
        reader.add_mismatch(place, word, "names in brackets, reduction(s)", word)
        return annotation
    given = _keywords(reader, word, call, ("order",))
    order = reader.choice(given["order"], "order", ("any",)) if "order" in given else None
    clause = ReductionClause(_names(reader, word, call, dotted=True), order == "any", place)
    return replace(annotation, reductions=(*annotation.reductions, clause))


def _read_private(
    reader: ClauseReader, annotation: Annotation, word: str, call: _Call, place: SourcePlace
) -> Annotation:
    if call is None:
        reader.add_mismatch(place, word, "names in brackets, private(t)", word)
        return annotation
    _keywords(reader, word, call)
    return replace(annotation, private=(*annotation.private, NameClause(_names(reader, word, call), place)))


def _read_schedule(
    reader: ClauseReader, annotation: Annotation, word: str, call: _Call, place: SourcePlace
) -> Annotation:
    if call is None or len(call.args) != 1:
        found = "none" if call is None or not call.args else f"{len(call.args)} of them"
        reader.add_mismatch(place, word, "one strategy in brackets, schedule(GDDLB)", found)
        return annotation
    given = _keywords(reader, word, call, ("group",))
    group = reader.whole(given["group"], "group", 1) if "group" in given else None
    strategy = _strategy(reader, call.args[0])
    return replace(annotation, schedule=ScheduleClause(strategy, group, place)) if strategy else annotation


def _strategy(reader: ClauseReader, node: ast.expr) -> str | None:
    place = reader.arguments.place_of(node)
    name = reader.name(node, "schedule")
    if name is None or name in AVAILABLE:
        return name
    hint = nearest(name, AVAILABLE)
    reader.add_problem("DLB114", place, strategy=name, hint=hint, known=", ".join(AVAILABLE))
    return None


def _read_cost(
    reader: ClauseReader, annotation: Annotation, word: str, call: _Call, place: SourcePlace
) -> Annotation:
    forms = tuple(form.value for form in CostForm if form.value)
    given = _keywords(reader, word, call, forms) if call else {}
    expressions = [*(call.args if call else []), *given.values()]
    if len(expressions) != 1 or isinstance(expressions[0], ast.Starred):
        wanted = "one expression in brackets, cost(EXPR), cost(cumulative=EXPR) or cost(fit=EXPR)"
        reader.add_mismatch(place, word, wanted, f"{len(expressions)} of them")
        return annotation
    text = reader.arguments.text_of(expressions[0])
    form = CostForm(next(iter(given), ""))
    return replace(annotation, cost=CostClause(text, form, place))


def _read_profile(
    reader: ClauseReader, annotation: Annotation, word: str, call: _Call, place: SourcePlace
) -> Annotation:
    keys = ("group", "every", "threshold")
    given = _keywords(reader, word, call, keys) if call else {}
    for node in call.args if call else ():
        wanted = "only group=, every= and threshold="
        reader.add_mismatch(reader.arguments.place_of(node), word, wanted, node)
    group = (reader.whole(given["group"], "group", 1) if "group" in given else None) or 5
    every = (reader.whole(given["every"], "every", 1) if "every" in given else None) or 10
    threshold = reader.number(given["threshold"], "threshold") if "threshold" in given else None
    clause = ProfileClause(group, every, 0.10 if threshold is None else threshold, place)
    return replace(annotation, profile=clause)


def _read_flag(
    reader: ClauseReader, annotation: Annotation, word: str, call: _Call, place: SourcePlace
) -> Annotation:
    if call is not None:
        reader.add_mismatch(place, word, "the bare word", call)
    elif getattr(annotation, word) is not None:
        reader.add_problem("DLB108", place, clause=word)
    else:
        return replace(annotation, **{word: place})  # type: ignore[arg-type]  # a flag
    return annotation


_Read = Callable[[ClauseReader, Annotation, str, _Call, SourcePlace], Annotation]
_PARALLEL: dict[str, _Read] = {
    **dict.fromkeys(DISTRIBUTIONS, _read_distribution),
    "reduction": _read_reduction,
    "private": _read_private,
    "schedule": _read_schedule,
    "cost": _read_cost,
    "profile": _read_profile,
    **dict.fromkeys(("fold", "nofold", "jit", "assume_independent"), _read_flag),
}
CLAUSES = tuple(_PARALLEL)
