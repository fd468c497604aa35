"""Test whether iterations that store into an array are independent.

Theory: two iterations are dependent if one stores to an element that the other accesses. The methods of
`dlbc.analysis.proof_methods` are tried from the cheapest on, each with names as they are and then with the
numbers that they are bound to; last come rows that the runtime inspects before the loop.

A dependence is called proved only for accesses whose conditions are known exactly, and with two iterations
named; any other dependence is merely possible.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dlbrt.records import dataclass

from dlbc.algebra.index_space import IndexSpace
from dlbc.algebra.integer_form import IntegerForm, Variable, VariableKind
from dlbc.analysis.container_kinds import ContainerKinds
from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.dependence_problem import Aliases, DependenceProblem, Provers
from dlbc.analysis.expand_calls import place_in_callee
from dlbc.analysis.proof_methods import MOST_PAIRS, ProofMethods
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic, RelatedPlace
from dlbc.ir.access import (
    Access,
    AccessKind,
    Subscript,
    has_arithmetic_subscripts,
    has_flat_subscripts,
    is_at_items,
)
from dlbc.ir.access_path import text_of
from dlbc.ir.loop import IndependenceProof, ProofFailure, ProofMethod
from dlbc.ir.plan import IterationContributions

_WITHOUT_SETS = "or install islpy, without which only equal subscripts are proved"
_MANY_PAIRS = "or split the loop: its accesses to the array make more than the {} pairs that are looked at"
_WITHOUT_SOLVER = "or let z3 try, which decides more products of names: `pip install 'dlbc[solver]'`"


#: Diagnostics of proved dependences.
_PROVED = frozenset({"DLB301", "DLB303"})


@dataclass(frozen=True)
class IndependenceTest:
    """Tests the stored arrays of one loop; ``cleared`` are, by array, places that surely do not reach it."""

    context: AnalysisContext
    cleared: Mapping[str, frozenset[ast.AST]]
    space: IndexSpace | None
    aliases: Aliases
    provers: Provers

    def prove(self, accesses: Sequence[Access]) -> tuple[dict[str, IndependenceProof], list[ProofFailure]]:
        """The proof for every stored array that passed the dependence test, the failure for every other."""
        proofs: dict[str, IndependenceProof] = {}
        failures: list[ProofFailure] = []
        aliases = self._aliases_among({a.array for a in accesses})
        stored = {aliases.get(a.array, (a.array, None))[0] for a in accesses if a.writes}
        accesses = [
            a.through_alias(*alias) if (alias := aliases.get(a.array)) and alias[0] in stored else a
            for a in accesses
        ]
        written = frozenset(a.array for a in accesses if a.writes)
        for array in dict.fromkeys(a.array for a in accesses if a.writes):
            cleared = self.cleared.get(array, ())
            touching = [
                a for a in accesses if a.overlaps(array) and (a.array == array or a.node not in cleared)
            ]
            result = _prove_array(self.context, array, touching, self.space, written, self.provers)
            if isinstance(result, IndependenceProof):
                proofs[array] = result
                proofs |= {name: result for name, (origin, _) in aliases.items() if origin == array}
            else:
                failures.append(result)
        return proofs, failures

    def _aliases_among(self, used: set[str]) -> Aliases:
        """The aliases that tell where accesses meet.

        A view of which the text does not tell how it lies in its array is an array of its own where the body
        uses no other view but such; whether two of them overlap, the runtime sees before the loop.
        """
        placed = (self.aliases.get(name, (name, IntegerForm())) for name in used)
        known = {origin for origin, shift in placed if shift is not None}
        return {
            name: alias for name, alias in self.aliases.items() if alias[1] is not None or alias[0] in known
        }

    def plain_stores(
        self, contributions: IterationContributions, accesses: Sequence[Access]
    ) -> frozenset[str]:
        """Names of contributions that are plain stores: each iteration stores to elements of its own.

        No contribution can explain a proved dependence, so that one is reported as a dependence of stores.
        """
        updated = {r.name for r in contributions.reductions}
        found = set()
        for name in contributions.maybe_stores:
            touching = [a for a in accesses if a.array == name]
            proofs, failures = self.prove(touching)
            proved = any(f.finding.code in _PROVED for f in failures) and name not in updated
            looked_at = any(p.method is ProofMethod.INSPECTOR for p in proofs.values())
            if name in contributions.arrays:
                at_once = bool(proofs) and not (looked_at and any(map(is_at_items, touching)))
                plain = at_once or all(map(has_arithmetic_subscripts, touching))
            else:
                flat = any(map(has_flat_subscripts, touching))  # no dictionary has such keys
                plain = not looked_at and any(flat or not p.guards for p in proofs.values())
            if proved or plain:
                found.add(name)
        return frozenset(found)


#: The space of a loop without a variable that counts: nothing is known of it.
_UNCOUNTED = IndexSpace("", None, None, None, exact=False)


def _prove_array(
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
        items = ProofMethods(array, accesses, _UNCOUNTED, written, provers)
        return _inspected(items, array, context) or ProofFailure(array, _unindexed(array, writes, context))
    symbolic = ProofMethods(array, accesses, space, written, provers)
    steps = symbolic.with_numbers(context.names)
    asserted = context.loop.annotation.assume_independent is not None
    known = all(map(context.module.builtin, ("type", "int", "bool")))
    supposing = steps.with_integers() if known and not asserted else ()
    for attempts in (dict.fromkeys((symbolic, steps)), tuple(supposing)):
        for method in ProofMethods.METHODS:
            for attempt in attempts:
                if (proof := method(attempt)) is not None:
                    return proof
    if (dependence := steps.witness()) is not None:
        return ProofFailure(array, _proved(array, *dependence, context), tuple(steps.tried))
    if asserted:
        return steps.asserted()
    if (proof := _inspected(steps, array, context)) is not None:
        return proof
    fixed = [w for w in writes if not any(s.depends_on_index for s in w.subscripts)]
    if fixed:
        finding = _unindexed(array, fixed, context)
    else:
        write, other = steps.possible_dependence()
        note = context.note(other.node, f"{other.kind.value} here")
        label, place = f"{write.kind.value} here", context.place_of(write.node)
        notes = (note, *_in_callees(write, other))
        finding = report("DLB302", place, label, notes, array=array, index=context.names.index)
    if steps.has_many_pairs:
        finding = replace(finding, help=f"{finding.help}; {_MANY_PAIRS.format(MOST_PAIRS)}")
    elif provers.sets is None:
        finding = replace(finding, help=f"{finding.help}; {_WITHOUT_SETS}")
    elif provers.solver is None and steps.has_products:
        finding = replace(finding, help=f"{finding.help}; {_WITHOUT_SOLVER}")
    return ProofFailure(array, finding, tuple(steps.tried))


def _inspected(steps: ProofMethods, array: str, context: AnalysisContext) -> IndependenceProof | None:
    """Rows for the runtime to look at; a dictionary has none."""
    proof = steps.inspected()
    return None if proof is None or ContainerKinds(context).is_dictionary(array) else proof


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
        s.text if _is_literal(s) else values.get(Variable(VariableKind.INNER, f"element {k}"), s.text)
        for k, s in enumerate(write.subscripts)
    )
    element = array + _brackets(write, list(map(str, exact)))
    low, high = sorted((first, second))
    if write.kind is other.kind is AccessKind.WRITE:
        also = () if write is other else (context.note(other.node, "and here"),)
        notes = (*also, *_in_callees(write, other))
        return report("DLB303", place, "", notes, index=index, first=low, second=high, element=element)
    note = context.note(other.node, f"{other.kind.value} in iteration {index}={second}")
    label = f"{write.kind.value} in iteration {index}={first}"
    notes = (note, *_in_callees(write, other))
    return report("DLB301", place, label, notes, index=index, first=low, second=high,
                  array=array, element=element)  # fmt: skip


def _is_literal(subscript: Subscript) -> bool:
    """Whether it is one number, which may count from the end."""
    return subscript.form is not None and not subscript.form.variables


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
    notes = (context.note(write.node, "stored to here"), *_in_callees(access, write))
    return report("DLB306", context.place_of(access.node), "all of it is used here", notes, array=array)


def _unindexed(array: str, writes: Sequence[Access], context: AnalysisContext) -> Diagnostic:
    write = next((w for w in writes if not any(s.depends_on_index for s in w.subscripts)), writes[0])
    names, place, notes = context.names, context.place_of(write.node), _in_callees(write)
    fixed = not any(s.depends_on_index for s in write.subscripts)
    if write.kind is AccessKind.UPDATE and fixed and _direct(write):
        return report("DLB305", place, "", notes, array=array)
    if names.index is None and names.rebound:
        return report("DLB323", place, "", notes, array=array, name=min(names.rebound))
    if names.index is None:
        return report("DLB307", place, "", notes, array=array)
    return report("DLB304", place, "", notes, array=array, index=names.index)


def _named(write: Access) -> bool:
    """Whether the store is by subscripts of the array's name."""
    return isinstance(write.node, ast.Subscript) and text_of(write.node).startswith(write.array + "[")


def _direct(write: Access) -> bool:
    """Whether the store is to an element of the array by its name, not through a view or an element."""
    return isinstance(write.node, ast.Subscript) and text_of(write.node.value) == write.array


def _in_callees(*accesses: Access) -> tuple[RelatedPlace, ...]:
    """Where accesses stand that are made by expanded calls."""
    return tuple(dict.fromkeys(note for access in accesses for note in place_in_callee(access.node)))
