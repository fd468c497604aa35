"""Classify every variable of a loop: by its class it is known how its value comes to the ranks, and back.

Law: each name that the body binds, or takes from before the loop, is of one class. A name that fits none is
refused, whatever the other passes found: its value could not be what the sequential program gives it.
Functions, classes and imports that the module binds once are no variables.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dlbrt.contract import Distribution
from dlbrt.records import dataclass

from dlbc.algebra.integer_form import IndexSpace, IntegerForm, Variable
from dlbc.analysis.row_footprints import RowRange, rows_of
from dlbc.analysis.uses import ScalarFacts, every_node
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.access import Access
from dlbc.ir.loop import AnnotatedLoop, ClassifiedVariable, VariableClass
from dlbc.ir.plan import ArrayPlan, IterationContributions
from dlbc.ir.region import LoopNames
from dlbc.source import Source

Classified = tuple[tuple[ClassifiedVariable, ...], tuple[Diagnostic, ...]]


def classify_variables(
    loop: AnnotatedLoop,
    names: LoopNames,
    scalars: ScalarFacts,
    space: IndexSpace | None,
    accesses: Sequence[Access],
    arrays: Sequence[ArrayPlan],
    contributions: IterationContributions,
    last: frozenset[str],
    source: Source,
) -> Classified:
    """The table of variables, in the order of the text, and those without a class.

    ``accesses`` are those of arrays from outside that are not private; ``last`` are the names that the loop
    binds and whose values are read after it.
    """
    classes = _Classes(
        names,
        frozenset(u.name for u in scalars.carried),
        frozenset(a.root for a in accesses if a.writes and a.array not in {r.name for r in arrays}),
        loop.annotation.private_names,
        contributions,
        last,
    )
    table: list[ClassifiedVariable] = []
    unfit: list[Diagnostic] = []
    for name, node in _in_order(loop, names).items():
        rows = [_array(a, accesses, space) for a in arrays if a.name.partition(".")[0] == name]
        table += rows
        if any(row.name == name for row in rows):
            continue
        variable = classes.of(name)
        if variable is None:
            unfit.append(report("DLB327", source.place_of(node), name=name))
        else:
            table.append(variable)
    listed = {variable.name for variable in table}
    table += [_array(a, accesses, space) for a in arrays if a.name not in listed]
    return tuple(table), tuple(unfit)


@dataclass(frozen=True)
class _Classes:
    """What the passes found of the names, as sets; ``stored``: into an array that stands in no table."""

    names: LoopNames
    carried: frozenset[str]
    stored: frozenset[str]
    private: frozenset[str]
    contributions: IterationContributions
    last: frozenset[str]

    def of(self, name: str) -> ClassifiedVariable | None:
        """The class of a name that is no array of the table."""
        contributed = self._contributed(name)
        if contributed is not None:
            return contributed
        if name in self.names.temporaries:
            return self._bound(name)
        if name in self.private:
            return ClassifiedVariable(name, VariableClass.PRIVATE)
        return None if name in self.stored else ClassifiedVariable(name, VariableClass.BROADCAST)

    def _contributed(self, name: str) -> ClassifiedVariable | None:
        for reduction in self.contributions.reductions:
            if name == reduction.name:
                return ClassifiedVariable(name, VariableClass.REDUCTION, operator=reduction.operator)
            if name in reduction.companions:
                return ClassifiedVariable(name, VariableClass.REDUCTION, companion_of=reduction.name)
        if any(name == ordered.name for ordered in self.contributions.ordered):
            return ClassifiedVariable(name, VariableClass.ORDERED)
        return None

    def _bound(self, name: str) -> ClassifiedVariable | None:
        if name in self.names.targets and name not in self.names.rebound:
            return ClassifiedVariable(name, VariableClass.LOOP, live=name in self.last)
        if name in self.carried:
            return None
        kept = name in self.last and name not in self.private
        return ClassifiedVariable(name, VariableClass.LASTPRIVATE if kept else VariableClass.PRIVATE)


def _in_order(loop: AnnotatedLoop, names: LoopNames) -> dict[str, ast.expr | ast.stmt]:
    """The variables in document order, with their first mention; those that no `Name` mentions come last."""
    found = [n for n in every_node(loop.node) if isinstance(n, ast.Name)]
    found.sort(key=lambda n: (n.lineno, n.col_offset))
    wanted = names.temporaries | names.shared.keys()
    first: dict[str, ast.expr | ast.stmt] = {}
    for node in found:
        if node.id in wanted:
            first.setdefault(node.id, node)
    return first | dict.fromkeys(sorted(wanted - first.keys()), loop.node)


def _array(array: ArrayPlan, accesses: Sequence[Access], space: IndexSpace | None) -> ClassifiedVariable:
    """An array of the table."""
    if array.axis is None or space is None or array.distribution is Distribution.WHOLE:
        return ClassifiedVariable(array.name, VariableClass.BROADCAST, whole_array=True)
    axis = array.axis
    own = [a for a in accesses if a.array == array.name]
    reached = [(a.writes, rows) for a in own if (rows := rows_of(a, axis)) is not None]
    below, above = _halo(reached, space)
    fixed = tuple(dict.fromkeys(rows.text for _, rows in reached if not rows.depends_on_index))
    return ClassifiedVariable(array.name, VariableClass.DISTRIBUTED, axis, below, above, fixed)


def _halo(reached: Sequence[tuple[bool, RowRange]], space: IndexSpace) -> tuple[int, int]:
    """How many rows before and after its own an iteration reaches, where a step of the index is one row."""
    extents = [(writes, *extent) for writes, rows in reached for extent in _extent(rows, space.index)]
    if not extents or space.step is None or abs(space.step) != 1:
        return 0, 0
    stored = [low for writes, low, _ in extents if writes]
    lows, highs = [low for _, low, _ in extents], [high for _, _, high in extents]
    own = min(stored) if stored else 0 if min(lows) <= 0 <= max(highs) else min(lows)
    return max(0, own - min(lows)), max(0, max(highs) - (max(stored) if stored else own))


def _extent(rows: RowRange, index: Variable) -> Iterator[tuple[int, int]]:
    """The rows' first and last distance from the index, if they follow it one by one."""
    width = rows.width
    for slope in (1, -1):
        if width and rows.low.coefficient(index) == slope:
            distance = (rows.low - IntegerForm.of(index) * IntegerForm.literal(slope)).constant
            if distance is not None:
                yield distance, distance + width - 1
