"""Test whether iterations that store into an array are independent.

Theory: two iterations are dependent if one stores to an element that the other accesses. The methods are
tried from the cheapest on: equal subscripts along an axis; integer sets, where subscripts, bounds and
conditions are affine; a solver, where they contain products; guards on names from before the loop, under
which there is no dependence; rows that the runtime inspects before the loop. Iterations whose stores lie in
different rows of an axis are dealt by rows, others element by element.

A dependence is called proved only for accesses whose conditions are known exactly, and with two iterations
named; any other dependence is merely possible. Along the distributed axis, the runtime checks that no
subscript wraps around; along other axes, wrapping is part of the proof.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from dlbc.algebra.integer_form import IndexSpace, IntegerForm, Variable, VariableKind
from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.dependence_problem import (
    DependenceProblem,
    Provers,
    dependence_problem,
    many_instances,
    two_iterations,
)
from dlbc.analysis.row_footprints import RowRange, evaluable, rows_of
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.access import Access, AccessKind, Subscript
from dlbc.ir.loop import IndependenceProof, ProofFailure, ProofMethod

_WITHOUT_SETS = "or install islpy, without which only equal subscripts are proved"

#: The number of iterations that a guard must admit.
_MANY = 64


def prove_independence(
    context: AnalysisContext,
    array: str,
    accesses: Sequence[Access],
    space: IndexSpace | None,
    written: frozenset[str],
    provers: Provers,
) -> IndependenceProof | ProofFailure:
    """The result for one stored array; ``accesses``: all that may touch it, in document order.

    ``written``: all arrays that the loop stores to.
    """
    writes = [a for a in accesses if a.writes]
    whole = next((a for a in accesses if a.array != array or not a.subscripts), None)
    if whole is not None and whole in writes and _named(whole):
        return ProofFailure(array, _unindexed(array, [whole], context))
    if whole is not None:
        return ProofFailure(array, _whole(array, whole, writes[0], context))
    if space is None:
        return ProofFailure(array, _unindexed(array, writes, context))
    steps = _ProofSteps(array, accesses, space, written, provers)
    if (proof := steps.first_proof()) is not None:
        return proof
    if (dependence := steps.witness()) is not None:
        return ProofFailure(array, _proved(array, *dependence, context), tuple(steps.tried))
    if context.loop.annotation.assume_independent is not None:
        return steps.asserted()
    if (proof := steps.inspected()) is not None:
        return proof
    fixed = [w for w in writes if not any(s.depends_on_index for s in w.subscripts)]
    if fixed:
        finding = _unindexed(array, fixed, context)
    else:
        write, other = steps.possible_dependence()
        note = context.note(other.node, f"{other.kind.value} here")
        label, place = f"{write.kind.value} here", context.place_of(write.node)
        finding = report("DLB302", place, label, (note,), array=array, index=context.names.index)
    if provers.sets is None:
        finding = replace(finding, help=f"{finding.help}; {_WITHOUT_SETS}")
    return ProofFailure(array, finding, tuple(steps.tried))


class _ProofSteps:
    """The proof methods in order, on one array; ``tried`` holds the outcome of each."""

    def __init__(
        self,
        array: str,
        accesses: Sequence[Access],
        space: IndexSpace,
        written: frozenset[str],
        provers: Provers,
    ) -> None:
        self._array, self._space, self._written, self._provers = array, space, written, provers
        self._accesses = _distinct(accesses)
        self._writes = [a for a in self._accesses if a.writes]
        self._depth = min(len(w.subscripts) for w in self._writes)
        self._all_axes = range(max(len(a.subscripts) for a in self._accesses))
        self._axes = [
            k for k in range(self._depth) if all(map(_varies, (w.subscripts[k] for w in self._writes)))
        ]
        self.tried: list[str] = []

    def first_proof(self) -> IndependenceProof | None:
        return self._by_equal_subscripts() or self._by_sets() or self._by_solver() or self._under_guard()

    def _note(self, method: ProofMethod, outcome: str) -> None:
        self.tried.append(f"{method.value}: {outcome}")

    def _proof(self, method: ProofMethod, axis: int | None, what: str, **more: object) -> IndependenceProof:
        self._note(method, what)
        return IndependenceProof(self._array, method, axis, tried=tuple(self.tried), **more)  # type: ignore[arg-type]

    def _by_equal_subscripts(self) -> IndependenceProof | None:
        for axis in self._axes:
            if all(self._apart(w, x, axis) for w in self._writes for x in self._accesses):
                what = f"each iteration has rows of its own on axis {axis}"
                return self._proof(ProofMethod.EQUAL, axis, what)
        self._note(ProofMethod.EQUAL, "not on any axis")
        return None

    def _apart(self, write: Access, other: Access, axis: int) -> bool:
        """Whether subscripts ``a*i + c`` are equal, or differ by no multiple of the stride times ``a``."""
        if len(other.subscripts) <= axis:
            return False
        left, right = write.subscripts[axis].form, other.subscripts[axis].form
        if left is None or right is None or any(f.depends_on((VariableKind.INNER,)) for f in (left, right)):
            return False
        slope, distance = left.coefficient(self._space.index), (right - left).constant
        if not slope or distance is None or left.elements & self._written:
            return False
        return distance == 0 or distance % (slope * self._space.stride) != 0

    def _by_sets(self) -> IndependenceProof | None:
        sets = self._provers.sets
        if sets is None:
            self._note(ProofMethod.SETS, "islpy is not installed")
            return None
        proof = self._by(ProofMethod.SETS, lambda m: sets.is_empty(m.conditions))
        if proof is None:
            self._note(ProofMethod.SETS, "two iterations may meet, as far as affine conditions tell")
        return proof

    def _by_solver(self) -> IndependenceProof | None:
        if not any(_has_product(f) for a in self._accesses for f in _forms(a)):
            return None
        solver = self._provers.solver
        if solver is None:
            self._note(ProofMethod.SOLVER, "z3 is not installed, and subscripts have products")
            return None
        proof = self._by(ProofMethod.SOLVER, lambda m: solver.is_empty(m.conditions))
        if proof is None:
            self._note(ProofMethod.SOLVER, "no proof within its bound")
        return proof

    def _by(
        self, method: ProofMethod, empty: Callable[[DependenceProblem], bool]
    ) -> IndependenceProof | None:
        for axis in self._axes:
            if self._has_rows(self._accesses, axis) and all(map(empty, self._problems([axis]))):
                return self._proof(method, axis, f"no two iterations meet in a row of axis {axis}")
        apart = "no two iterations meet in an element"
        if not all(map(empty, self._problems(self._all_axes, wrap=True))):
            return None
        for axis in self._axes:
            disjoint = all(map(empty, self._problems([axis], self._writes, wrap=True)))
            if disjoint and self._has_rows(self._writes, axis):
                what = f"{apart}; their stores lie in different rows of axis {axis}"
                return self._proof(method, axis, what, shared_rows=True)
        return self._proof(method, None, apart)

    def _has_rows(self, accesses: Sequence[Access], axis: int) -> bool:
        """Whether the runtime can find the rows of the accesses before the loop."""
        return all(self._rows(a, axis) is not None for a in accesses)

    def _rows(self, access: Access, axis: int) -> RowRange | None:
        rows = rows_of(access, axis)
        known = rows is not None and all(evaluable(f, self._written) for f in (rows.low, rows.high))
        return rows if known else None

    def _problems(
        self, axes: Sequence[int], touching: Sequence[Access] | None = None, wrap: bool = False
    ) -> Iterator[DependenceProblem]:
        """The distinct dependence problems along these axes."""
        seen = set()
        for write, other, same in self._pairs(touching or self._accesses):
            if len(axes) == 1 and not wrap and self._apart(write, other, axes[0]):
                continue
            key = [(a.domain, *(a.subscripts[k] if k < len(a.subscripts) else None for k in axes))
                   for a in (write, other)]  # fmt: skip
            if (identity := (*key, same)) not in seen:
                seen.add(identity)
                yield dependence_problem(write, other, axes, self._space, self._written, wrap, ordered=same)

    def _pairs(self, touching: Sequence[Access]) -> Iterator[tuple[Access, Access, bool]]:
        """Each store with each access once; the order of two stores at different places does not matter."""
        for number, write in enumerate(self._writes):
            for other in touching:
                if not (other.writes and other in self._writes[:number]):
                    yield write, other, other is write

    def _under_guard(self) -> IndependenceProof | None:
        sets = self._provers.sets
        if sets is None:
            return None
        several = two_iterations(self._space)
        for axis in self._axes:
            if not self._has_rows(self._accesses, axis):
                continue
            # A guard that does not admit many iterations with many stores is useless.
            pairs = self._pairs(self._accesses)
            many = (many_instances(w, other, self._space, self._written, _MANY) for w, other, _ in pairs)
            guard = sets.guard((m.conditions for m in self._problems([axis])), several, many)
            if guard is not None:
                what = f"no two iterations meet in a row of axis {axis} if {guard}"
                return self._proof(ProofMethod.SETS, axis, what, guards=(guard,))
        return None

    def witness(self) -> tuple[Access, Access, DependenceProblem, dict[Variable, int]] | None:
        """Two accesses that surely meet in one element in two iterations, with an example."""
        sets = self._provers.sets
        if sets is None:
            return None
        for natural in (True, False):
            for write, other, same in self._pairs(self._accesses):
                problem = dependence_problem(
                    write, other, self._all_axes, self._space, self._written, ordered=same, natural=natural
                )
                if not problem.exact or not (write.has_all_subscripts and other.has_all_subscripts):
                    continue
                values = sets.witness(problem.conditions)
                if values is not None and sets.affine:
                    self._note(ProofMethod.SETS, "two iterations surely meet")
                    return write, other, problem, values
        return None

    def asserted(self) -> IndependenceProof:
        """The user's assertion: stores by rows of the first axis whose rows are known, else by elements."""
        axis = next((k for k in self._axes if self._has_rows(self._writes, k)), None)
        what = "`assume_independent`"
        return self._proof(ProofMethod.ASSERTED, axis, what, shared_rows=axis is not None)

    def inspected(self) -> IndependenceProof | None:
        """Rows that data selects (``A[ix[i]]``), for the runtime to inspect before the loop.

        Only if no other rows are touched: it is unlikely that other rows, which are read, are never stored
        to.
        """
        for axis in self._axes:
            rows = [self._rows(a, axis) for a in (*self._writes, *self._accesses)]
            stored = {(r.low, r.high) for r in rows[: len(self._writes)] if r is not None and r.of_data}
            if all(r is not None and (r.low, r.high) in stored for r in rows):
                what = f"rows of axis {axis} are looked at before the loop"
                return self._proof(ProofMethod.INSPECTOR, axis, what)
        return None

    def possible_dependence(self) -> tuple[Access, Access]:
        sets = self._provers.sets
        for write, other, same in self._pairs(self._accesses):
            problem = dependence_problem(
                write, other, self._all_axes, self._space, self._written, ordered=same
            )
            if sets is None or not sets.is_empty(problem.conditions):
                return write, other
        return self._writes[0], self._accesses[0]


def _varies(subscript: Subscript) -> bool:
    return any(form.depends_on() for form in subscript.forms)


def _distinct(accesses: Sequence[Access]) -> list[Access]:
    """The accesses without those that differ from another one by their place in the text alone."""
    found = {(a.subscripts, a.domain, a.writes): a for a in reversed(accesses)}
    return list(reversed(found.values()))


def _forms(access: Access) -> Iterator[IntegerForm]:
    for subscript in access.subscripts:
        yield from subscript.forms
    for inner in access.domain.inner_loops:
        yield from (f for f in (inner.start, inner.stop) if f is not None)


def _has_product(form: IntegerForm) -> bool:
    return any(
        len(monomial) > 1 and IntegerForm(((monomial, 1),)).depends_on() for monomial, _ in form.terms
    ) or any(_has_product(o) for atom in form.atoms if not isinstance(atom, Variable) for o in atom.operands)


def _proved(
    array: str,
    write: Access,
    other: Access,
    problem: DependenceProblem,
    values: dict[Variable, int],
    context: AnalysisContext,
) -> Diagnostic:
    first, second = values.get(problem.first, 0), values.get(problem.second, 0)
    index, place = problem.first.name.rstrip("'"), context.place_of(write.node)
    exact = (
        values.get(Variable(VariableKind.INNER, f"element {k}"), s.text)
        for k, s in enumerate(write.subscripts)
    )
    element = array + _brackets(write, list(map(str, exact)))
    low, high = sorted((first, second))
    if write.kind is other.kind is AccessKind.WRITE:
        also = () if write is other else (context.note(other.node, "and here"),)
        return report("DLB303", place, "", also, index=index, first=low, second=high, element=element)
    note = context.note(other.node, f"{other.kind.value} in iteration {index}={second}")
    label = f"{write.kind.value} in iteration {index}={first}"
    return report("DLB301", place, label, (note,), index=index, first=low, second=high,
                  array=array, element=element)  # fmt: skip


def _brackets(access: Access, parts: Sequence[str]) -> str:
    """Subscripts in brackets as the access has them: ``[1, 0]`` or ``[1][0]``."""
    sizes, node, text, at = [], access.node, "", 0
    while isinstance(node, ast.Subscript):
        sizes.append(len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1)
        node = node.value
    for size in reversed(sizes) if sum(sizes) == len(parts) else [len(parts)]:
        text += f"[{', '.join(parts[at : at + size])}]"
        at += size
    return text


def _whole(array: str, access: Access, write: Access, context: AnalysisContext) -> Diagnostic:
    note = context.note(write.node, "stored to here")
    return report("DLB306", context.place_of(access.node), "all of it is used here", (note,), array=array)


def _unindexed(array: str, writes: Sequence[Access], context: AnalysisContext) -> Diagnostic:
    write = next((w for w in writes if not any(s.depends_on_index for s in w.subscripts)), writes[0])
    names, place = context.names, context.place_of(write.node)
    fixed = not any(s.depends_on_index for s in write.subscripts)
    if write.kind is AccessKind.UPDATE and fixed and _direct(write):
        return report("DLB305", place, array=array)
    if names.index is None and names.rebound:
        return report("DLB323", place, array=array, name=min(names.rebound))
    if names.index is None:
        return report("DLB307", place, array=array)
    return report("DLB304", place, array=array, index=names.index)


def _named(write: Access) -> bool:
    """Whether the store is by subscripts of the array's name."""
    return isinstance(write.node, ast.Subscript) and ast.unparse(write.node).startswith(write.array + "[")


def _direct(write: Access) -> bool:
    """Whether the store is to an element of the array by its name, not through a view or an element."""
    return isinstance(write.node, ast.Subscript) and ast.unparse(write.node.value) == write.array
