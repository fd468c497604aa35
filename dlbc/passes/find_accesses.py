"""Find what the loop body reads, stores, changes in place and calls, and which names alias one array.

An alias surely denotes the same memory as another name of the loop: ``B = A``, or a view ``B = A[2:]``. A
slice of a numpy array is a view, a slice of a list is a copy, so the base must have come from numpy. What is
unknown here (arguments, elements of containers) is compared at run time before the loop.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from dlbc.algebra.integer_form import IntegerForm
from dlbc.analysis.container_paths import find_paths
from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.dependence_problem import Aliases
from dlbc.analysis.enclosing_statements import bound_once, statements_before
from dlbc.analysis.expand_calls import expand_calls, place_in_callee
from dlbc.analysis.subscripts import range_operands
from dlbc.analysis.uses import every_node, own_nodes, receiver_of, uses_of
from dlbc.analysis.walk_code import walk_code
from dlbc.ir.access import RegionFacts
from dlbc.ir.access_path import root_of
from dlbc.ir.region import CodeRegion, Expansion, ModuleNames
from dlbc.library.table import lookup

_SAME = frozenset({"asarray", "asanyarray", "ascontiguousarray"})
_PARTS = frozenset(
    {"reshape", "ravel", "transpose", "swapaxes", "squeeze", "diagonal", "view", "T", "flat", "real", "imag"}
    | {"moveaxis", "rollaxis", "flip", "rot90", "split", "array_split", "atleast_2d"}
)


def find_accesses(context: AnalysisContext) -> RegionFacts:
    """The facts of one iteration; the summaries say which functions give new results.

    Calls are expanded where one of them stores into what exists outside of it, is given something that the
    loop stores into, runs code of another module of the program, or has a name that means something else on
    objects of libraries (`model.gamma(x)`).
    """
    region = _region_of(context)
    found = expand_calls(context)
    if found and _tell(found, facts := _walked(region.expanding(found)), context):
        return facts
    return _walked(region)


def _walked(region: CodeRegion) -> RegionFacts:
    return walk_code(replace(region, paths=find_paths(region)))


def _tell(found: Mapping[ast.AST, Expansion], facts: RegionFacts, context: AnalysisContext) -> bool:
    """Whether the expansions tell more than the summaries of the functions."""
    brackets = (n.slice for n in own_nodes(context.body) if isinstance(n, ast.Subscript))
    stores = [(a.root, a.node) for a in facts.accesses if a.writes]
    stores += [(root_of(o.name), m.node) for m in facts.mutations for o in m.origins]
    stored = {root for root, _ in stores}
    return (
        any(not e.of_file for e in found.values())
        or any(place_in_callee(node) for _, node in stores)
        or any(u.name in stored for node in found for u in uses_of(node))
        or any(node in found for part in brackets for node in every_node(part))
        or any(_is_of_libraries(node) and not e.by_name for node, e in found.items())
    )


def _is_of_libraries(node: ast.AST) -> bool:
    """Whether a method that is called has the name of one of a library that has an effect."""
    match node:
        case ast.Call(func=ast.Attribute(attr=method)):
            return lookup(f".{method}").effect is not None
    return False


def _region_of(context: AnalysisContext) -> CodeRegion:
    names, summaries = context.names, context.summaries
    live_in, counted = frozenset(names.targets) - {names.index}, frozenset[str]()
    match context.loop.node.iter:
        case ast.Call(func=ast.Name(id="range"), args=args) if context.module.builtin("range"):
            # The items are integers, and a `range` takes integers alone.
            live_in, counted = frozenset[str](), range_operands(args)
    return CodeRegion(
        body=tuple(context.body),
        own=names.temporaries,
        module=context.module,
        index=names.index,
        live_in=live_in,
        items=live_in.intersection(names.items) - names.rebound,
        integers=names.integers,
        fresh=summaries.fresh,
        returns_argument_parts=summaries.returns_argument_parts,
        range_arguments=counted,
        receiver=receiver_of(context.loop.scope),
    )


def find_aliases(context: AnalysisContext, depth: Mapping[str, int]) -> Aliases:
    """The aliases among names that are bound once, before the loop; chains are followed to their end.

    ``depth``: the largest number of subscripts by which the loop indexes an array; fewer give a view.
    """
    loop, names, module = context.loop, context.names, context.module
    reader = _Reader(module, depth)
    for statement in statements_before(loop):
        match statement:
            case ast.Assign(targets=targets, value=value):
                for name in (t.id for t in targets if isinstance(t, ast.Name)):
                    if bound_once(name, loop, names, module):
                        base = reader.base(value)
                        known = base is not None and bound_once(base[0], loop, names, module)
                        reader.take(name, base if known else None, value)
    return reader.found


class _Reader:
    def __init__(self, module: ModuleNames, depth: Mapping[str, int]) -> None:
        self._module, self._depth = module, depth
        self._arrays: set[str] = set()
        self.found: dict[str, tuple[str, IntegerForm | None]] = {}

    def take(self, name: str, base: tuple[str, IntegerForm | None] | None, value: ast.expr) -> None:
        """``name`` is bound to ``value``, which is (part of) ``base`` if that is known."""
        if base is not None:
            origin, shift = self.found.get(base[0], (base[0], IntegerForm()))
            self.found[name] = (origin, None if shift is None or base[1] is None else shift + base[1])
            if base[0] in self._arrays:
                self._arrays.add(name)
        elif isinstance(value, ast.Call) and self._makes_array(value):
            self._arrays.add(name)

    def _makes_array(self, value: ast.Call) -> bool:
        """Whether it gives a new array: a function of numpy, perhaps reshaped in the same expression."""
        function = value.func
        while isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call):
            function = function.value.func
        return self._module.imported_name(ast.unparse(function)).startswith("numpy.")

    def base(self, value: ast.expr) -> tuple[str, IntegerForm | None] | None:
        """The array that ``value`` is, or is part of."""
        match value:
            case ast.Name(id=name):
                return name, IntegerForm()
            case ast.Subscript(value=ast.Name(id=name), slice=inside) if name in self._arrays:
                return self._part(name, inside)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                return (name, None) if name in self._arrays and attribute in _PARTS else None
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if name in self._arrays:
                return (name, None) if method in _PARTS else None
            case ast.Call(func=function, args=[ast.Name(id=name), *_]) if name in self._arrays:
                package, _, word = self._module.imported_name(ast.unparse(function)).rpartition(".")
                if package != "numpy" or word not in _SAME | _PARTS:
                    return None
                return name, IntegerForm() if word in _SAME and len(value.args) == 1 else None
        return None

    def _part(self, name: str, inside: ast.expr) -> tuple[str, IntegerForm | None] | None:
        """A slice is a view; an element is a view where the array has more axes than subscripts."""
        parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
        match parts:
            case [ast.Slice(lower=None, step=None)]:
                return name, IntegerForm()
            case [ast.Slice(lower=ast.Constant(value=low), step=None)] if type(low) is int and low >= 0:
                return name, IntegerForm.literal(low)
        if any(isinstance(p, ast.Slice) for p in parts) or len(parts) < self._depth.get(name, 0):
            return name, None
        return None
