"""Infer, per array, its distributed axis, the rows that an iteration touches, and how it uses them.

An array that the loop reads by its index on one axis is distributed along that axis; an array that it reads
in any other way is whole on every rank. A store decides the axis. Clauses override this, where the subscripts
allow it.

Law of mode ``w``, under which rows are not sent but come back whole: a statement of the body, executed in
every iteration, stores the iteration's whole row. All other accesses to the array are to that row, in later
statements. So an iteration reads only elements that it has stored itself, and no old element of the row
remains. Where its inner loops store it element by element, whether that is all of it shows at run time
(`dlbc.analysis.overwritten_rows`).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dlbrt.contract import Distribution, Mode
from dlbrt.records import dataclass

from dlbc.algebra.integer_form import IntegerForm, numbers_for
from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.overwritten_rows import overwritten_where
from dlbc.analysis.row_footprints import rows_of
from dlbc.analysis.uses import own_nodes
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.access import Access, AccessKind
from dlbc.ir.annotation import Annotation, ArrayClause
from dlbc.ir.loop import IndependenceProof
from dlbc.ir.plan import ArrayPlan

#: The largest number of rows that are listed one by one.
_MOST_ROWS = 16


@dataclass(frozen=True)
class _Array:
    name: str
    accesses: tuple[Access, ...]
    axis: int | None
    proof: IndependenceProof | None


def iteration_distribution(annotation: Annotation) -> Distribution:
    """How iterations are dealt: by the clause without arrays, by the others if they agree, else in blocks."""
    bare = [c.distribution for c in annotation.distributions if not c.arrays]
    named = {c.distribution for c in annotation.distributions if c.arrays} - {Distribution.WHOLE}
    if bare:
        return Distribution.BLOCK if bare[0] is Distribution.WHOLE else bare[0]
    return named.pop() if len(named) == 1 else Distribution.BLOCK


def infer_distribution(
    context: AnalysisContext,
    accesses: Sequence[Access],
    proofs: Mapping[str, IndependenceProof],
    whole: frozenset[str],
) -> tuple[tuple[ArrayPlan, ...], tuple[Diagnostic, ...]]:
    """The array table. ``proofs``: for each stored array. ``whole``: arrays that escape as a whole."""
    annotation, index = context.loop.annotation, context.names.index
    whole |= _arrays_in_subscripts(accesses)
    plans: list[ArrayPlan] = []
    findings: list[Diagnostic] = []
    for name in dict.fromkeys(a.array for a in accesses if a.subscripts):
        own = tuple(a for a in accesses if a.array == name)
        clause = next((c for c in annotation.distributions if name in c.arrays), None)
        proof = proofs.get(name)
        if proof is not None:
            axis, own = proof.axis, tuple(a.replaced(numbers_for(dict(proof.numbers))) for a in own)
        else:
            axis = None if name in whole else _read_axis(own, None if clause is None else clause.axis)
        array = _Array(name, own, axis, proof)
        problem = None if clause is None else _contradiction(array, clause, index)
        if problem is None:
            plan = _plan(array, _distribution(clause, annotation), index, context.body)
            plans.append(replace(plan, overwritten=_overwritten_where(plan, array, accesses, context)))
        else:
            findings.append(problem)
    return tuple(plans), tuple(findings)


def _arrays_in_subscripts(accesses: Sequence[Access]) -> frozenset[str]:
    """Arrays whose elements select the rows of others on every rank (``A[i + first[0]]``)."""
    forms = (f for a in accesses for s in a.subscripts for f in s.forms)
    atoms = (atom for form in forms for atom in form.atoms if not IntegerForm.of(atom).depends_on())
    return frozenset(name for atom in atoms for name in IntegerForm.of(atom).elements)


def _distribution(clause: ArrayClause | None, annotation: Annotation) -> Distribution:
    if clause is not None:
        return clause.distribution
    bare = [c.distribution for c in annotation.distributions if not c.arrays]
    return bare[0] if bare else iteration_distribution(annotation)


def _read_axis(accesses: Sequence[Access], wanted: int | None) -> int | None:
    depth = min(len(a.subscripts) for a in accesses)
    suitable = [k for k in range(depth) if _is_distributable(accesses, k)]
    return wanted if wanted in suitable else next(iter(suitable), None)


def _is_distributable(accesses: Sequence[Access], axis: int) -> bool:
    """Whether each iteration reads few rows, some of which depend on the index."""
    rows, complete, inspect = _rows(accesses, axis)
    moving = any(r.depends_on_index for a in accesses if (r := rows_of(a, axis)) is not None)
    return complete and moving and not inspect and len(rows) <= _MOST_ROWS


def _contradiction(array: _Array, clause: ArrayClause, index: str | None) -> Diagnostic | None:
    if array.axis is None:
        if clause.distribution is Distribution.WHOLE:
            return None
        return report("DLB321", clause.place, array=array.name, index=index or "its variable",
                      distribution=clause.distribution.value)  # fmt: skip
    if clause.axis is not None and clause.axis != array.axis:
        return report("DLB320", clause.place, array=array.name, axis=clause.axis, found=array.axis)
    return None


def _plan(
    array: _Array, distribution: Distribution, index: str | None, body: Sequence[ast.stmt]
) -> ArrayPlan:
    if array.proof is not None and array.axis is None:
        return ArrayPlan(array.name, Distribution.WHOLE, None, Mode.UPDATE, in_place=_in_place(array))
    if array.axis is None or (distribution is Distribution.WHOLE and array.proof is None):
        return ArrayPlan(array.name, Distribution.WHOLE, None, Mode.READ)
    rows, complete, inspect = _rows(array.accesses, array.axis)
    if array.proof is None:
        return ArrayPlan(array.name, distribution, array.axis, Mode.READ, _unless_index(rows, index))
    writes, _, inspect_writes = _rows([a for a in array.accesses if a.writes], array.axis)
    if not complete or array.proof.shared_rows:
        distribution, rows, inspect = Distribution.WHOLE, writes, inspect_writes
    return ArrayPlan(
        array.name,
        distribution,
        array.axis,
        Mode.WRITE if _is_overwritten(array, body) else Mode.UPDATE,
        _unless_index(rows, index),
        None if writes == rows else writes,
        _in_place(array),
        inspect,
    )


def _in_place(array: _Array) -> bool:
    return any(a.in_place for a in array.accesses if a.writes)


def _rows(accesses: Sequence[Access], axis: int) -> tuple[tuple[str, ...], bool, bool]:
    """The distinct rows on the axis as text; whether all accesses have rows; whether to inspect them."""
    found: dict[tuple[IntegerForm, IntegerForm], str] = {}
    complete, inspect = True, False
    for access in accesses:
        rows = rows_of(access, axis)
        if rows is None or any(v.out_of_scope for form in (rows.low, rows.high) for v in form.variables):
            complete = False
        elif rows.affine:
            found.setdefault((rows.low, rows.high), rows.text)
        elif rows.width is not None and 0 < rows.width <= _MOST_ROWS and rows.first.affine:
            for row in rows.each():
                found.setdefault((row.low, row.high), row.text)
        else:
            inspect = True
            found.setdefault((rows.low, rows.high), rows.text)
    return tuple(found.values()), complete, inspect


def _unless_index(rows: tuple[str, ...], index: str | None) -> tuple[str, ...]:
    return () if rows == (index,) else rows


def _is_overwritten(array: _Array, body: Sequence[ast.stmt]) -> bool:
    """Whether each iteration stores its whole row before it reads any of it, and touches no other."""
    first, *others = array.accesses
    if not _stores_row(first, array.axis or 0):
        return False
    rows, complete, inspect = _rows(array.accesses, array.axis or 0)
    if others and (len(rows) != 1 or not complete or inspect):
        return False
    below = _below(first, body)
    return all(a.direct and not a.in_place and a.node in below for a in others)


def _overwritten_where(
    plan: ArrayPlan, array: _Array, accesses: Sequence[Access], context: AnalysisContext
) -> tuple[str, ...]:
    """Under which conditions each iteration overwrites the one row that it touches; none if never."""
    one_row = len(plan.rows) < 2 and plan.writes is None and not (plan.inspect or plan.in_place)
    if plan.axis is None or plan.mode is not Mode.UPDATE or plan.distribution is Distribution.WHOLE:
        return ()
    stored = {access.root for access in accesses if access.writes}
    builtin, loop = context.module.builtin, context.loop.node
    if not one_row or array.proof is None or array.proof.shared_rows:
        return ()
    return overwritten_where(array.accesses, plan.axis, loop, stored=stored, builtin=builtin)


def _stores_row(access: Access, axis: int) -> bool:
    others = [s for k, s in enumerate(access.subscripts) if k != axis]
    row = access.subscripts[axis]  # a slice may be empty
    whole = access.has_all_subscripts and access.direct and row.span is None and all(s.full for s in others)
    return access.kind is AccessKind.WRITE and whole and access.unconditional and not access.in_place


def _below(access: Access, body: Sequence[ast.stmt]) -> frozenset[ast.AST]:
    """The nodes below the assignment of the body that makes the access; empty if there is none.

    The code of functions is left out, since the time of their calls is unknown.
    """
    for number, statement in enumerate(body):
        if isinstance(statement, ast.Assign) and access.node in statement.targets:
            return frozenset(own_nodes(body[number + 1 :]))
    return frozenset()
