"""Find what the loop body reads, stores, changes in place and calls: its statements as a region."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from dlbc.algebra.integer_form import IntegerForm
from dlbc.analysis.effects import FunctionSummaries
from dlbc.analysis.enclosing_statements import bound_once, statements_before
from dlbc.analysis.walk_code import walk_code
from dlbc.ir.access import RegionFacts
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.region import CodeRegion, LoopNames, ModuleNames


def find_accesses(
    loop: AnnotatedLoop, names: LoopNames, module: ModuleNames, summaries: FunctionSummaries
) -> RegionFacts:
    """The facts of one iteration; the summaries say which functions give new results."""
    return walk_code(
        CodeRegion(
            body=tuple(loop.node.body),
            own=names.temporaries,
            module=module,
            index=names.index,
            live_in=frozenset() if _counts(loop, module) else frozenset(names.targets) - {names.index},
            integers=names.integers,
            fresh=summaries.fresh,
            returns_argument_parts=summaries.returns_argument_parts,
            range_arguments=_counted(loop.node.iter) if _counts(loop, module) else frozenset(),
        )
    )


def _counts(loop: AnnotatedLoop, module: ModuleNames) -> bool:
    """Whether the items are integers, none of them shared, whatever the body binds the variable to."""
    node = loop.node.iter
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "range" and module.builtin("range")


def _counted(iterable: ast.expr) -> frozenset[str]:
    """The names in the arguments of a `range` that cannot be other than integers: it takes no others."""
    arguments = iterable.args if isinstance(iterable, ast.Call) else []
    return frozenset(name for argument in arguments for name in _operands(argument))


def _operands(node: ast.expr) -> Iterator[str]:
    """The names in arithmetic that gives an integer of integers alone."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv(), right=right):
            yield from _operands(left)
            yield from _operands(right)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            yield from _operands(operand)


# ------------------------------------------------------------------------------
# Find names that surely denote the same memory as another name of the loop: ``B = A``, views ``B = A[2:]``.
#
# A slice of a numpy array is a view, one of a list a copy: the base must have come from numpy. What cannot be
# known here (arguments, elements of containers) is compared at the run time before the loop.

#: From a name to the one whose memory it denotes, and how far its subscripts on axis 0 are shifted; None
#: where it is not known which part it is.
Aliases = Mapping[str, tuple[str, IntegerForm | None]]

_SAME = frozenset({"asarray", "asanyarray", "ascontiguousarray"})
_PARTS = frozenset(
    {"reshape", "ravel", "transpose", "swapaxes", "squeeze", "diagonal", "view", "T", "flat", "real", "imag"}
    | {"moveaxis", "rollaxis", "flip", "rot90", "split", "array_split", "atleast_2d"}
)


def find_aliases(
    loop: AnnotatedLoop, names: LoopNames, module: ModuleNames, depth: Mapping[str, int]
) -> Aliases:
    """The aliases among names that are bound once, before the loop; chains are followed to their end.

    ``depth``: by how many subscripts at most the loop indexes an array, so that with fewer it gives a view.
    """
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
            self._arrays |= {name} & ({name} if base[0] in self._arrays else set())
        elif isinstance(value, ast.Call) and self._of_numpy(value):
            self._arrays.add(name)

    def _of_numpy(self, value: ast.Call) -> bool:
        """Whether it gives a new array: a function of numpy, perhaps brought into shape at once."""
        function = value.func
        while isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call):
            function = function.value.func
        return self._full_name(function).startswith("numpy.")

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
                package, _, word = self._full_name(function).rpartition(".")
                if package != "numpy" or word not in _SAME | _PARTS:
                    return None
                return name, IntegerForm() if word in _SAME and len(value.args) == 1 else None
        return None

    def _part(self, name: str, inside: ast.expr) -> tuple[str, IntegerForm | None] | None:
        """A slice is a view; an element is one where the array has more axes than subscripts."""
        parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
        match parts:
            case [ast.Slice(lower=lower, step=None)] if lower is None or _literal(lower) is not None:
                return name, IntegerForm.literal(0 if lower is None else _literal(lower) or 0)
        if any(isinstance(p, ast.Slice) for p in parts) or len(parts) < self._depth.get(name, 0):
            return name, None
        return None

    def _full_name(self, node: ast.expr) -> str:
        root, _, rest = ast.unparse(node).partition(".")
        return (
            self._module.imports[root] + ("." + rest if rest else "") if root in self._module.imports else ""
        )


def _literal(node: ast.expr) -> int | None:
    match node:
        case ast.Constant(value=value) if type(value) is int and value >= 0:
            return value
    return None
