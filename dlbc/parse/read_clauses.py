"""Read the arguments of an annotation as clauses: one small reader per clause, found by its name.

To add a clause, add a row in ``_PARALLEL`` and its reader. `find_loops.check_clauses` checks clauses against
each other (contradictions, repeated names).
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from dlbrt.contract import AVAILABLE, DISTRIBUTIONS, Distribution, nearest
from dlbrt.records import dataclass

from dlbc.ir.annotation import (
    Annotation,
    AnnotationKind,
    ArrayClause,
    CostClause,
    CostForm,
    IterateClause,
    JitClause,
    NameClause,
    ProfileClause,
    ReductionClause,
    ScheduleClause,
)
from dlbc.parse.argument_list import AnnotationArgument, ClauseReader
from dlbc.source import SourcePlace

ITERATE_KEYS = ("model", "tolerance", "every", "checkpoint")
_MODELS = ("piecewise", "akima", "constant")
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
    checkpoint: int | None = None
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
        elif key == "every":
            every = reader.whole(value, key, 1) or every
        else:
            checkpoint = reader.whole(value, key, 1)
        seen.add(key)
    return IterateClause(model, tolerance, every, checkpoint)


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
    meant = argument.value.id if argument.keyword and isinstance(argument.value, ast.Name) else word
    is_strategy = meant in AVAILABLE and "schedule" in known
    hint = f"; did you mean schedule({meant})?" if is_strategy else nearest(word, known)
    reader.add_problem("DLB107", argument.place, clause=word, hint=hint, known=", ".join(known))


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
        return _PARALLEL[word](_Clause(reader, word, call, argument.place), annotation)
    return annotation


@dataclass(frozen=True)
class _Clause:
    """A clause as it is written; ``call`` is None for a bare word."""

    reader: ClauseReader
    word: str
    call: ast.Call | None
    place: SourcePlace

    def keywords(self, *keys: str) -> dict[str, ast.expr]:
        """The keyword arguments by name, each known and given once."""
        given: dict[str, ast.expr] = {}
        for keyword in self.call.keywords if self.call else ():
            key, place = keyword.arg or "**", self.reader.arguments.place_of(keyword)
            if key not in keys:
                known = f"no argument but {', '.join(k + '=' for k in keys)}"
                wanted = known if keys else "no keyword argument"
                self.reader.add_mismatch(place, self.word, wanted, f"{key}=", nearest(key, keys))
            elif key in given:
                self.reader.add_problem("DLB108", place, clause=f"{key}=")
            else:
                given[key] = keyword.value
        return given

    def names(self, dotted: bool = False) -> tuple[str, ...]:
        """The names in the brackets, at least one."""
        nodes = self.call.args if self.call else []
        if not nodes:
            self.mismatch("at least one name in the brackets", "none")
        names = [self.reader.name(node, self.word, dotted) for node in nodes]
        return tuple(name for name in names if name is not None)

    def whole(self, given: dict[str, ast.expr], key: str, least: int = 1) -> int | None:
        """A whole number among the keyword arguments; None too where it is not given."""
        return self.reader.whole(given[key], key, least) if key in given else None

    def mismatch(self, wanted: str, found: ast.expr | str) -> None:
        """Note that the clause as a whole is not what it should be."""
        self.reader.add_mismatch(self.place, self.word, wanted, found)


def _read_distribution(clause: _Clause, annotation: Annotation) -> Annotation:
    axis: int | None = None
    names: tuple[str, ...] = ()
    word, bare = clause.word, clause.call is None
    if not bare:
        given = clause.keywords(*(() if word == Distribution.WHOLE.value else ("axis",)))
        names = clause.names(dotted=True)
        axis = clause.whole(given, "axis", 0)
    elif any(not c.arrays for c in annotation.distributions):
        default = next(c for c in annotation.distributions if not c.arrays).distribution.value
        if default == word:
            clause.reader.add_problem("DLB108", clause.place, clause=word)
        else:
            clause.reader.add_problem("DLB110", clause.place, one=default, other=word)
    if not bare and not names:
        return annotation
    read = ArrayClause(Distribution(word), names, axis, clause.place)
    return replace(annotation, distributions=(*annotation.distributions, read))


def _read_reduction(clause: _Clause, annotation: Annotation) -> Annotation:
    if clause.call is None:
        clause.mismatch("names in brackets, reduction(s)", clause.word)
        return annotation
    given = clause.keywords("order")
    order = clause.reader.choice(given["order"], "order", ("any",)) if "order" in given else None
    read = ReductionClause(clause.names(dotted=True), order == "any", clause.place)
    return replace(annotation, reductions=(*annotation.reductions, read))


def _read_private(clause: _Clause, annotation: Annotation) -> Annotation:
    if clause.call is None:
        clause.mismatch("names in brackets, private(t)", clause.word)
        return annotation
    clause.keywords()
    return replace(annotation, private=(*annotation.private, NameClause(clause.names(), clause.place)))


def _read_schedule(clause: _Clause, annotation: Annotation) -> Annotation:
    given = clause.call.args if clause.call else []
    if len(given) != 1:
        found = f"{len(given)} of them" if given else "none"
        clause.mismatch("one strategy in brackets, schedule(GDDLB)", found)
        return annotation
    group = clause.whole(clause.keywords("group"), "group")
    strategy = _strategy(clause.reader, given[0])
    read = ScheduleClause(strategy, group, clause.place) if strategy else None
    return replace(annotation, schedule=read) if read else annotation


def _strategy(reader: ClauseReader, node: ast.expr) -> str | None:
    place = reader.arguments.place_of(node)
    name = reader.name(node, "schedule")
    if name is None or name in AVAILABLE:
        return name
    hint = nearest(name, AVAILABLE)
    reader.add_problem("DLB114", place, strategy=name, hint=hint, known=", ".join(AVAILABLE))
    return None


def _read_cost(clause: _Clause, annotation: Annotation) -> Annotation:
    forms = tuple(form.value for form in CostForm if form.value)
    given = clause.keywords(*forms)
    expressions = [*(clause.call.args if clause.call else []), *given.values()]
    if len(expressions) != 1 or isinstance(expressions[0], ast.Starred):
        wanted = "one expression in brackets, cost(EXPR), cost(cumulative=EXPR) or cost(fit=EXPR)"
        clause.mismatch(wanted, f"{len(expressions)} of them")
        return annotation
    text = clause.reader.arguments.text_of(expressions[0])
    return replace(annotation, cost=CostClause(text, CostForm(next(iter(given), "")), clause.place))


def _read_profile(clause: _Clause, annotation: Annotation) -> Annotation:
    reader, given = clause.reader, clause.keywords("group", "every", "threshold")
    for node in clause.call.args if clause.call else ():
        wanted = "only group=, every= and threshold="
        reader.add_mismatch(reader.arguments.place_of(node), clause.word, wanted, node)
    group, every = clause.whole(given, "group") or 5, clause.whole(given, "every") or 10
    threshold = reader.number(given["threshold"], "threshold") if "threshold" in given else None
    read = ProfileClause(group, every, 0.10 if threshold is None else threshold, clause.place)
    return replace(annotation, profile=read)


def _read_jit(clause: _Clause, annotation: Annotation) -> Annotation:
    if annotation.jit is not None:
        clause.reader.add_problem("DLB108", clause.place, clause=clause.word)
        return annotation
    words: list[str | None] = []
    if clause.call is not None:
        clause.keywords()
        words = [clause.reader.choice(node, clause.word, ("as_written",)) for node in clause.call.args]
        if len(words) != 1:
            clause.mismatch("the bare word, or jit(as_written)", clause.call)
    return replace(annotation, jit=JitClause("as_written" in words, clause.place))


def _read_flag(clause: _Clause, annotation: Annotation) -> Annotation:
    if clause.call is not None:
        clause.mismatch("the bare word", clause.call)
    elif getattr(annotation, clause.word) is not None:
        clause.reader.add_problem("DLB108", clause.place, clause=clause.word)
    else:
        return replace(annotation, **{clause.word: clause.place})  # type: ignore[arg-type]  # a flag
    return annotation


_PARALLEL: dict[str, Callable[[_Clause, Annotation], Annotation]] = {
    **dict.fromkeys(DISTRIBUTIONS, _read_distribution),
    "reduction": _read_reduction,
    "private": _read_private,
    "schedule": _read_schedule,
    "cost": _read_cost,
    "profile": _read_profile,
    **dict.fromkeys(("fold", "nofold"), _read_flag),
    "jit": _read_jit,
    "assume_independent": _read_flag,
}
CLAUSES = tuple(_PARALLEL)
