"""The methods that prove the stores into one array apart.

From the cheapest on: equal subscripts along an axis; integer sets, where subscripts, bounds and conditions
are affine or can be delinearised; guards on names from before the loop, under which there is no dependence;
a solver, for other products; rows that the runtime inspects before the loop. Iterations whose stores lie in
different rows of an axis are dealt by rows, others element by element. Along the distributed axis, the
runtime checks that no subscript wraps around; along other axes, wrapping is part of the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from dlbc.algebra.index_space import IndexSpace
from dlbc.algebra.integer_form import IntegerForm, Variable, VariableKind, numbers_for
from dlbc.algebra.integer_sets import IntegerSets
from dlbc.algebra.smt_solver import SmtSolver
from dlbc.analysis.dependence_problem import DependenceProblem, Provers, both_executed, dependence_problem
from dlbc.analysis.row_footprints import RowRange, evaluable, rows_of
from dlbc.ir.access import Access, InnerLoop, Subscript
from dlbc.ir.loop import IndependenceProof, ProofMethod
from dlbc.ir.region import LoopNames

#: Pairs of a store and an access that provers are asked about, and those among which an example is sought.
MOST_PAIRS, MOST_WITNESSES = 4000, 200

#: The number of iterations that a guard must admit.
_MANY = 64


#: Conditions that are taken to count by themselves, where names in them hold integers.
_SUPPOSED = 4

#: Variables whose values in two iterations have nothing to do with each other.
_UNRELATED = (VariableKind.ITEM, VariableKind.INNER)


class ProofMethods:
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
        self._numbers: tuple[tuple[str, int], ...] = ()
        self._looked_at: tuple[str, ...] = ()
        self.tried: list[str] = []

    def with_numbers(self, names: LoopNames) -> ProofMethods:
        """The same with numbers in place of the names bound to them; itself if it has no such names."""
        change = numbers_for(names.numbers)
        accesses, space = [a.replaced(change) for a in self._accesses], self._space.replaced(change)
        if accesses == self._accesses and space == self._space:
            return self
        steps = ProofMethods(self._array, accesses, space, self._written, self._provers)
        used = {v.name for a in self._accesses for f in _forms(a) for v in f.variables}
        used |= {v.name for f in (self._space.start, self._space.stop) if f is not None for v in f.variables}
        steps._numbers = tuple((name, names.numbers[name]) for name in sorted(used & names.numbers.keys()))
        steps._looked_at = tuple(f"{n} == {k}" for n, k in steps._numbers if n in names.numbers_of_module)
        steps.tried = self.tried
        return steps

    def with_integers(self) -> Iterator[ProofMethods]:
        """The same where names that may hold anything, and that conditions compare, hold integers.

        The runtime looks whether they do. First one condition is taken to count, then all of them.
        """
        found = dict.fromkeys(s.integers for a in self._accesses for s in a.domain.supposed)
        together: frozenset[str] = frozenset().union(*found)
        for integers in dict.fromkeys((*islice(found, _SUPPOSED), together)) if found else ():
            accesses = [replace(a, domain=a.domain.supposing(integers)) for a in self._accesses]
            supposing = ProofMethods(self._array, accesses, self._space, self._written, self._provers)
            supposing._numbers, supposing.tried = self._numbers, self.tried
            looked_at = tuple(f"type({name}) in (int, bool)" for name in sorted(integers))
            supposing._looked_at = (*self._looked_at, *looked_at)
            yield supposing

    def _by_affine_forms(self) -> IndependenceProof | None:
        return self._by_equal_subscripts() or self._by_sets()

    def _note(self, method: ProofMethod, outcome: str) -> None:
        self.tried.append(f"{method.value}: {outcome}")

    def _proof(
        self,
        method: ProofMethod,
        axis: int | None,
        what: str,
        shared_rows: bool = False,
        guards: tuple[str, ...] = (),
    ) -> IndependenceProof:
        self._note(method, what)
        guards = (*self._looked_at, *guards)
        return IndependenceProof(
            self._array, method, axis, shared_rows, guards, self._numbers, tuple(self.tried)
        )

    def _by_equal_subscripts(self) -> IndependenceProof | None:
        for axis in self._axes:
            if self._all_apart(axis):
                what = f"each iteration has rows of its own on axis {axis}"
                return self._proof(ProofMethod.EQUAL, axis, what)
        self._note(ProofMethod.EQUAL, "not on any axis")
        return None

    def _all_apart(self, axis: int) -> bool:
        """Whether `_apart` holds for every store and every access.

        That is so if all subscripts are one form but for a literal, and those that have one residue with a
        store, by the stride times ``a``, are equal. One walk finds that; there may be a million pairs.
        """
        first = self._writes[0]
        known = all(self._apart(w, first, axis) for w in self._writes)
        if not known or not all(self._apart(first, x, axis) for x in self._accesses):
            return False
        literals: dict[int, set[int]] = {}
        start = first.subscripts[axis].form or IntegerForm()
        modulus = (start.coefficient(self._space.index) or 1) * self._space.stride
        for each in self._accesses:
            distance = ((each.subscripts[axis].form or IntegerForm()) - start).constant or 0
            literals.setdefault(distance % modulus, set()).add(distance)
        stored = {((w.subscripts[axis].form or IntegerForm()) - start).constant or 0 for w in self._writes}
        return all(len(literals[distance % modulus]) == 1 for distance in stored)

    def _apart(self, write: Access, other: Access, axis: int) -> bool:
        """Whether subscripts ``a*i + c`` are equal, or differ by no multiple of the stride times ``a``."""
        if len(other.subscripts) <= axis:
            return False
        left, right = write.subscripts[axis].form, other.subscripts[axis].form
        if left is None or right is None or any(f.depends_on(_UNRELATED) for f in (left, right)):
            return False
        slope, distance = left.coefficient(self._space.index), (right - left).constant
        if not slope or distance is None or left.elements & self._written:
            return False
        return distance == 0 or distance % (slope * self._space.stride) != 0

    def _by_sets(self) -> IndependenceProof | None:
        missing, failed = (
            "islpy is not installed",
            "two iterations may meet, as far as affine conditions tell",
        )
        return self._decided(ProofMethod.SETS, self._provers.sets, missing, failed)

    @property
    def has_many_pairs(self) -> bool:
        """Whether stores and accesses make too many pairs to ask a prover about each."""
        return len(self._writes) * len(self._accesses) > MOST_PAIRS

    @property
    def has_products(self) -> bool:
        """Whether some subscript or bound multiplies variables."""
        return any(_has_product(f) for a in self._accesses for f in _forms(a))

    def _by_solver(self) -> IndependenceProof | None:
        if not self.has_products:
            return None
        missing, failed = "z3 is not installed, and subscripts have products", "no proof within its bound"
        return self._decided(ProofMethod.SOLVER, self._provers.solver, missing, failed)

    def _decided(
        self, method: ProofMethod, prover: IntegerSets | SmtSolver | None, missing: str, failed: str
    ) -> IndependenceProof | None:
        """What a prover decides; noted where it is ``missing``, or has ``failed``."""
        if prover is None:
            self._note(method, missing)
            return None
        if self.has_many_pairs:
            self._note(
                method, f"its {len(self._accesses)} different accesses make more than {MOST_PAIRS} pairs"
            )
            return None
        proof = self._by(method, lambda m: prover.is_empty(m.conditions))
        if proof is None:
            self._note(method, failed)
        return proof

    def _by(
        self, method: ProofMethod, empty: Callable[[DependenceProblem], bool]
    ) -> IndependenceProof | None:
        rows = [k for k in self._axes if self._has_rows(self._accesses, k)]
        for axis in rows:
            if all(map(empty, self._problems([axis], rows=True))):
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

    def _with_rows(self, access: Access, axis: int) -> Access:
        """The access to all rows that the runtime moves for it, not only to those that it touches."""
        rows = self._rows(access, axis)
        if rows is None or rows.single:
            return access
        row = Variable(VariableKind.INNER, "row")
        every = InnerLoop(row, rows.low, rows.high, 1)
        subscripts = list(access.subscripts)
        subscripts[axis] = Subscript(rows.text, IntegerForm.of(row))
        domain = replace(access.domain, inner_loops=(*access.domain.inner_loops, every))
        return replace(access, subscripts=tuple(subscripts), domain=domain)

    def _problems(
        self,
        axes: Sequence[int],
        touching: Sequence[Access] | None = None,
        wrap: bool = False,
        rows: bool = False,
    ) -> Iterator[DependenceProblem]:
        """The distinct dependence problems along these axes.

        ``rows``: of all rows that the runtime moves. It moves those of an iteration whether or not conditions
        in it hold; so it does with rows that are stored to, which are the ``touching`` of a single axis.
        """
        seen = set()
        for write, other, same in self._pairs(touching or self._accesses):
            if len(axes) == 1 and not wrap and self._apart(write, other, axes[0]):
                continue
            if rows:
                write, other = (self._with_rows(a, axes[0]) for a in (write, other))
            if rows or touching is not None:
                write, other = (replace(a, domain=a.domain.in_all_iterations()) for a in (write, other))
            key = [(a.domain, *(a.subscripts[k] if k < len(a.subscripts) else None for k in axes))
                   for a in (write, other)]  # fmt: skip
            if (identity := (*key, same)) not in seen:
                seen.add(identity)
                yield dependence_problem(write, other, axes, self._space, self._written, wrap, ordered=same)

    def _pairs(self, touching: Sequence[Access]) -> Iterator[tuple[Access, Access, bool]]:
        """Each store with each access once; the order of two stores at different places does not matter."""
        numbers = {write: number for number, write in enumerate(self._writes)}
        for number, write in enumerate(self._writes):
            for other in touching:
                if not (other.writes and numbers[other] < number):
                    yield write, other, other is write

    def _under_guard(self) -> IndependenceProof | None:
        sets = self._provers.sets
        if sets is None or self.has_many_pairs:
            return None
        pairs = list(self._pairs(self._accesses))
        executed = [both_executed(w, other, self._space, self._written) for w, other, _ in pairs]
        # A guard that does not admit many iterations with many stores is useless.
        many = [
            both_executed(w, other, self._space, self._written, _MANY, busy=True) for w, other, _ in pairs
        ]
        for axis in self._axes:
            if self._has_rows(self._accesses, axis):
                guard = sets.guard((m.conditions for m in self._problems([axis], rows=True)), executed, many)
                if guard is not None:
                    what = f"no two iterations meet in a row of axis {axis} if {guard}"
                    return self._proof(ProofMethod.SETS, axis, what, guards=(guard,))
        problems = self._problems(self._all_axes, wrap=True)
        guard = sets.guard((m.conditions for m in problems), executed, many)
        if guard is None:
            return None
        what = f"no two iterations meet in an element if {guard}"
        return self._proof(ProofMethod.SETS, None, what, guards=(guard,))

    #: From the cheapest on; each is tried with names and then with the numbers that they are bound to.
    METHODS = (_by_affine_forms, _under_guard, _by_solver)

    def witness(self) -> tuple[Access, Access, DependenceProblem, dict[Variable, int]] | None:
        """Two accesses that surely meet in one element in two iterations, with an example."""
        sets = self._provers.sets
        if sets is None:
            return None
        for natural in (True, False):
            for write, other, same in islice(self._pairs(self._accesses), MOST_WITNESSES):
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
        """Two accesses that may meet, as far as integer sets tell."""
        sets = self._provers.sets
        for write, other, same in islice(self._pairs(self._accesses), MOST_WITNESSES):
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
