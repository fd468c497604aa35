"""Test whether iterations that store into an array are independent.

Theory: two iterations depend on one another if one stores to an element that the other one touches. The means
are tried from the cheapest on: equal subscripts along an axis; integer sets, where subscripts, bounds and
conditions are affine; a solver, where they have products; conditions on names from before the loop under
which there is no dependence; rows that the run time looks at before the loop. Iterations whose stores
lie in different rows of an axis are dealt by rows; others element by element.

A dependence is called proved only for accesses whose conditions are known exactly, and with two iterations
named; everything else merely cannot be excluded. Along the axis that is dealt, the run time checks that no
subscript wraps around; elsewhere wrapping is part of the proof.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from dlbc.algebra.integer_form import Condition, IndexSpace, IntegerForm, Variable, VariableKind
from dlbc.analysis.dependence_problem import (
    DependenceProblem,
    Provers,
    dependence_problem,
    many_instances,
    two_iterations,
)
from dlbc.analysis.row_footprints import RowRange, evaluable, rows_of
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic, RelatedPlace
from dlbc.ir.access import Access, AccessKind, Subscript
from dlbc.ir.loop import IndependenceProof, ProofFailure, ProofMethod
from dlbc.ir.region import LoopNames
from dlbc.source import Source, SourcePlace

Pair = tuple[Access, Access]

_WITHOUT_SETS = "or install islpy, without which only equal subscripts are proved"

#: How many iterations a guard has to leave room for.
_MANY = 64


def prove_independence(
    array: str,
    accesses: Sequence[Access],
    names: LoopNames,
    space: IndexSpace | None,
    written: frozenset[str],
    source: Source,
    provers: Provers,
    assume: bool,
) -> IndependenceProof | ProofFailure:
    """The verdict on one stored array; ``accesses`` are all that may touch it, in document order.

    ``written`` are all arrays that the loop stores to.
    """
    writes = [a for a in accesses if a.writes]
    whole = next((a for a in accesses if a.array != array or not a.subscripts), None)
    if whole is not None and whole in writes and _named(whole):
        return ProofFailure(array, _unindexed(array, [whole], names, source))
    if whole is not None:
        return ProofFailure(array, _whole(array, whole, writes[0], source))
    if space is None:
        return ProofFailure(array, _unindexed(array, writes, names, source))
    proof_steps = _ProofSteps(array, accesses, space, written, provers)
    proof = proof_steps.first_proof()
    if proof is not None:
        return proof
    proved = proof_steps.witness()
    if proved is not None:
        return ProofFailure(array, _proved(array, *proved, source), tuple(proof_steps.tried))
    if assume:
        return proof_steps.asserted()
    looked = proof_steps.inspected()
    if looked is not None:
        return looked
    still = [w for w in writes if not any(s.depends_on_index for s in w.subscripts)]
    finding = (
        _unindexed(array, still, names, source) if still else _possible(array, proof_steps, names, source)
    )
    if provers.sets is None:
        finding = replace(finding, help=f"{finding.help}; {_WITHOUT_SETS}")
    return ProofFailure(array, finding, tuple(proof_steps.tried))


class _ProofSteps:
    """The means in order, on one array; ``tried`` says what came of each."""

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
        """The first means by which the array is proved."""
        steps: tuple[Callable[[], IndependenceProof | None], ...] = (
            self._by_equal_subscripts, self._by_sets, self._by_solver, self._under_guard
        )  # fmt: skip
        return next((v for step in steps if (v := step()) is not None), None)

    def _found(self, means: ProofMethod, axis: int | None, what: str, **more: object) -> IndependenceProof:
        self.tried.append(f"{means.value}: {what}")
        return IndependenceProof(self._array, means, axis, tried=tuple(self.tried), **more)  # type: ignore[arg-type]

    def _by_equal_subscripts(self) -> IndependenceProof | None:
        for axis in self._axes:
            if all(self._apart(w, x, axis) for w in self._writes for x in self._accesses):
                return self._found(
                    ProofMethod.EQUAL, axis, f"each iteration has rows of its own on axis {axis}"
                )
        self.tried.append(f"{ProofMethod.EQUAL.value}: not on any axis")
        return None

    def _apart(self, write: Access, other: Access, axis: int) -> bool:
        """Whether subscripts ``a*i + c`` differ by nothing, or by what no distance can make up."""
        if len(other.subscripts) <= axis:
            return False
        left, right = write.subscripts[axis].form, other.subscripts[axis].form
        if (
            left is None
            or right is None
            or left.depends_on((VariableKind.INNER,))
            or right.depends_on((VariableKind.INNER,))
        ):
            return False
        slope, distance = left.coefficient(self._space.index), (right - left).constant
        if not slope or distance is None or left.elements & self._written:
            return False
        return distance == 0 or distance % (slope * self._space.stride) != 0

    def _by_sets(self) -> IndependenceProof | None:
        sets = self._provers.sets
        if sets is None:
            self.tried.append(f"{ProofMethod.SETS.value}: islpy is not installed")
            return None
        proof = self._by(ProofMethod.SETS, lambda m: sets.is_empty(m.conditions))
        if proof is None:
            self.tried.append(
                f"{ProofMethod.SETS.value}: two iterations may meet, as far as affine conditions tell"
            )
        return proof

    def _by_solver(self) -> IndependenceProof | None:
        if not any(_has_product(f) for a in self._accesses for f in _forms(a)):
            return None
        solver = self._provers.solver
        if solver is None:
            self.tried.append(
                f"{ProofMethod.SOLVER.value}: z3 is not installed, and subscripts have products"
            )
            return None
        proof = self._by(ProofMethod.SOLVER, lambda m: solver.is_empty(m.conditions))
        if proof is None:
            self.tried.append(f"{ProofMethod.SOLVER.value}: no proof within its bound")
        return proof

    def _by(self, means: ProofMethod, empty: Callable[[DependenceProblem], bool]) -> IndependenceProof | None:
        for axis in self._axes:
            if self._dealable(axis) and all(map(empty, self._meetings([axis]))):
                return self._found(means, axis, f"no two iterations meet in a row of axis {axis}")
        if not all(map(empty, self._meetings(self._all_axes, wrap=True))):
            return None
        for axis in self._axes:
            if all(map(empty, self._meetings([axis], self._writes, wrap=True))) and self._dealable(
                axis, stores=True
            ):
                what = (
                    f"no two iterations meet in an element; their stores lie in different rows of axis {axis}"
                )
                return self._found(means, axis, what, shared_rows=True)
        return self._found(means, None, "no two iterations meet in an element")

    def _dealable(self, axis: int, *, stores: bool = False) -> bool:
        """Whether the run time can find the rows (stored to, if ``stores``) before the loop."""
        touching = self._writes if stores else self._accesses
        return all(self._rows(a, axis) is not None for a in touching)

    def _rows(self, access: Access, axis: int) -> RowRange | None:
        rows = rows_of(access, axis)
        known = rows is not None and all(evaluable(f, self._written) for f in (rows.low, rows.high))
        return rows if known else None

    def _meetings(
        self, axes: Sequence[int], touching: Sequence[Access] | None = None, wrap: bool = False
    ) -> Iterator[DependenceProblem]:
        seen = set()
        for write, other, same in self._pairs(touching or self._accesses):
            if len(axes) == 1 and not wrap and self._apart(write, other, axes[0]):
                continue
            key = [(a.domain, *(a.subscripts[k] if k < len(a.subscripts) else None for k in axes))
                   for a in (write, other)]  # fmt: skip
            if (found := (*key, same)) not in seen:
                seen.add(found)
                yield dependence_problem(write, other, axes, self._space, self._written, wrap, ordered=same)

    def _pairs(self, touching: Sequence[Access]) -> Iterator[tuple[Access, Access, bool]]:
        """Each store with each access once; two stores of different places meet in either order."""
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
            if not self._dealable(axis):
                continue
            guard = sets.guard((m.conditions for m in self._meetings([axis])), several, self._crowds())
            if guard is not None:
                what = f"no two iterations meet in a row of axis {axis} if {guard}"
                return self._found(ProofMethod.SETS, axis, what, guards=(guard,))
        return None

    def _crowds(self) -> Iterator[tuple[Condition, ...]]:
        """Many iterations in which much is stored: a guard that leaves no room for them is none."""
        for write, other, _ in self._pairs(self._accesses):
            yield many_instances(write, other, self._space, self._written, _MANY)

    def witness(self) -> tuple[Access, Access, DependenceProblem, dict[Variable, int]] | None:
        """Two accesses that surely meet in an element in two iterations, with example numbers."""
        sets = self._provers.sets
        if sets is None:
            return None
        for natural in (True, False):
            for write, other, same in self._pairs(self._accesses):
                found = dependence_problem(
                    write, other, self._all_axes, self._space, self._written, ordered=same, natural=natural
                )
                if not found.exact or not (write.has_all_subscripts and other.has_all_subscripts):
                    continue
                values = sets.witness(found.conditions)
                if values is not None and sets.affine:
                    self.tried.append(f"{ProofMethod.SETS.value}: two iterations surely meet")
                    return write, other, found, values
        return None

    def asserted(self) -> IndependenceProof:
        """The word of the user: stores by rows of the first axis where they are known, else by elements."""
        axis = next((k for k in self._axes if self._dealable(k, stores=True)), None)
        self.tried.append(f"{ProofMethod.ASSERTED.value}: `assume_independent`")
        return IndependenceProof(
            self._array, ProofMethod.ASSERTED, axis, axis is not None, tried=tuple(self.tried)
        )

    def inspected(self) -> IndependenceProof | None:
        """Rows that data gives (``A[ix[i]]``), for the run time to look at before the loop.

        Only where nothing but these rows is touched: that other rows, read as well, are never stored
        to is too much to hope for.
        """
        for axis in self._axes:
            rows = [self._rows(a, axis) for a in (*self._writes, *self._accesses)]
            stored = {(r.low, r.high) for r in rows[: len(self._writes)] if r is not None and r.of_data}
            if all(r is not None and (r.low, r.high) in stored for r in rows):
                return self._found(
                    ProofMethod.INSPECTOR, axis, f"rows of axis {axis} are looked at before the loop"
                )
        return None

    def doubtful(self) -> Pair:
        """Two accesses that may meet."""
        sets = self._provers.sets
        for write, other, same in self._pairs(self._accesses):
            found = dependence_problem(write, other, self._all_axes, self._space, self._written, ordered=same)
            if sets is None or not sets.is_empty(found.conditions):
                return write, other
        return self._writes[0], self._accesses[0]


def _varies(subscript: Subscript) -> bool:
    return any(form.depends_on() for form in subscript.forms)


def _distinct(accesses: Sequence[Access]) -> list[Access]:
    """One access of each kind: what differs is the place in the text alone."""
    found = {(a.subscripts, a.domain, a.writes): a for a in reversed(accesses)}
    return list(reversed(found.values()))


def _forms(access: Access) -> Iterator[IntegerForm]:
    for subscript in access.subscripts:
        yield from subscript.forms
    for binder in access.domain.inner_loops:
        yield from (f for f in (binder.start, binder.stop) if f is not None)


def _has_product(form: IntegerForm) -> bool:
    return any(
        len(monomial) > 1 and IntegerForm(((monomial, 1),)).depends_on() for monomial, _ in form.terms
    ) or any(_has_product(o) for atom in form.atoms if not isinstance(atom, Variable) for o in atom.operands)


def _proved(
    array: str,
    write: Access,
    other: Access,
    found: DependenceProblem,
    values: dict[Variable, int],
    source: Source,
) -> Diagnostic:
    first, second = values.get(found.first, 0), values.get(found.second, 0)
    index = found.first.name.rstrip("'")
    element = array + _brackets(
        write, [_element(write, axis, values) for axis in range(len(write.subscripts))]
    )
    low, high = sorted((first, second))
    if write.kind is other.kind is AccessKind.WRITE:
        also = () if write is other else (RelatedPlace(_place(other, source), "and here"),)
        return report("DLB303", _place(write, source), "", also, index=index, first=low, second=high,
                      element=element)  # fmt: skip
    note = RelatedPlace(_place(other, source), f"{other.kind.value} in iteration {index}={second}")
    label = f"{write.kind.value} in iteration {index}={first}"
    return report("DLB301", _place(write, source), label, (note,), index=index, first=low, second=high,
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


def _element(write: Access, axis: int, values: dict[Variable, int]) -> str:
    return str(values.get(Variable(VariableKind.INNER, f"element {axis}"), write.subscripts[axis].text))


def _possible(array: str, proof_steps: _ProofSteps, names: LoopNames, source: Source) -> Diagnostic:
    write, other = proof_steps.doubtful()
    note = RelatedPlace(_place(other, source), f"{other.kind.value} here")
    return report("DLB302", _place(write, source), f"{write.kind.value} here", (note,), array=array,
                  index=names.index)  # fmt: skip


def _whole(array: str, access: Access, write: Access, source: Source) -> Diagnostic:
    note = RelatedPlace(_place(write, source), "stored to here")
    return report("DLB306", _place(access, source), "all of it is used here", (note,), array=array)


def _unindexed(array: str, writes: Sequence[Access], names: LoopNames, source: Source) -> Diagnostic:
    write = next((w for w in writes if not any(s.depends_on_index for s in w.subscripts)), writes[0])
    place = _place(write, source)
    if (
        write.kind is AccessKind.UPDATE
        and not any(s.depends_on_index for s in write.subscripts)
        and _direct(write)
    ):
        return report("DLB305", place, array=array)
    if names.index is None and names.rebound:
        return report("DLB323", place, array=array, name=min(names.rebound))
    if names.index is None:
        return report("DLB307", place, array=array)
    return report("DLB304", place, array=array, index=names.index)


def _named(write: Access) -> bool:
    """Whether it stores by subscripts of the array's name."""
    return isinstance(write.node, ast.Subscript) and ast.unparse(write.node).startswith(write.array + "[")


def _direct(write: Access) -> bool:
    """Whether it stores to an element of the array by its name, not through a view or an element."""
    return isinstance(write.node, ast.Subscript) and ast.unparse(write.node.value) == write.array


def _place(access: Access, source: Source) -> SourcePlace:
    return source.place_of(access.node)
