"""Check that no contribution stands where the body would catch its failure.

Law: `s += e` is done when all iterations have run; if it fails then, no handler of the body is there to take
it. So a handler around it must not take what it may raise: nothing where numbers are added, and where objects
or keys are not known what Python's own containers and operators raise.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbc.analysis.enclosing_statements import EVERYTHING, catchers, caught_exceptions
from dlbc.analysis.updates import selection_of, update_of
from dlbc.analysis.uses import bound_names, own_nodes
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic, RelatedPlace
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.plan import IterationContributions, Reduction
from dlbc.ir.region import ModuleNames
from dlbc.source import Source

_ANY = frozenset({EVERYTHING, "Exception"})
_VALUES = _ANY | {"TypeError", "ValueError", "AttributeError", "ArithmeticError", "OverflowError",
                  "FloatingPointError", "ZeroDivisionError", "RuntimeError"}  # fmt: skip
_PLACES = _ANY | {"TypeError", "LookupError", "KeyError", "IndexError", "ArithmeticError", "OverflowError"}

#: Functions whose result is a number.
_NUMBERS = frozenset({"int", "float", "len", "ord", "hash"})


def check_handlers(
    contributions: IterationContributions, loop: AnnotatedLoop, module: ModuleNames, source: Source
) -> Iterator[Diagnostic]:
    """One finding for each name that is contributed to where a failure would be caught."""
    around = catchers(loop.node.body)
    numbers = _Numbers(loop, module)
    for name, node, raised in _deferred(contributions, numbers, module):
        kinds = around.get(node, ())
        if not raised.isdisjoint(caught_exceptions(kinds, module)):
            catcher = next((kind for kind in kinds if kind is not None), None)
            notes = () if catcher is None else (RelatedPlace(source.place_of(catcher), "caught here"),)
            yield report("DLB328", source.place_of(node), "", notes, name=name)


def _deferred(
    contributions: IterationContributions, numbers: _Numbers, module: ModuleNames
) -> Iterator[tuple[str, ast.stmt, frozenset[str]]]:
    """Each contribution, with the exceptions that putting it together may meet."""
    for reduction in contributions.reductions:
        for update in reduction.updates:
            yield reduction.name, update, _raised(reduction, numbers.all(update, module))
    for container in contributions.ordered:
        for effect in container.effects:
            if isinstance(effect, ast.stmt) and container.name not in contributions.dictionaries:
                yield container.name, effect, _PLACES | _VALUES


def _raised(reduction: Reduction, numeric: bool) -> frozenset[str]:
    values = frozenset[str]() if numeric or reduction.integer else _VALUES
    return values | _PLACES if reduction.element else values


class _Numbers:
    """What surely is a number: literals, results of functions, names that the body binds to such."""

    def __init__(self, loop: AnnotatedLoop, module: ModuleNames) -> None:
        self._module = module
        self._names: set[str] = set()
        bound = bound_names(loop.node.body)
        given: dict[str, list[ast.expr]] = {}
        for node in own_nodes(loop.node.body):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    given.setdefault(name, []).append(value)
        for name, values in given.items():
            if len(values) == len(bound[name]) and all(map(self.holds, values)):
                self._names.add(name)

    def all(self, update: ast.stmt, module: ModuleNames) -> bool:
        """Whether all that a statement contributes are numbers."""
        found = selection_of(update, module) or update_of(update, module)
        return found is not None and all(map(self.holds, found.values))

    def holds(self, node: ast.expr) -> bool:
        """Whether an expression surely is a number."""
        match node:
            case ast.Constant(value=value):
                return isinstance(value, int | float | complex)
            case ast.Name(id=name):
                return name in self._names
            case ast.UnaryOp(operand=operand):
                return self.holds(operand)
            case ast.BinOp(left=left, right=right):
                return self.holds(left) and self.holds(right)
            case ast.Call(func=func):
                root, _, rest = ast.unparse(func).partition(".")
                if rest:
                    return self._module.imports.get(root) == "math"
                return self._module.builtin(root) and root in _NUMBERS
        return False
