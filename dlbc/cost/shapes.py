"""Integer forms and shapes of expressions, for counting: lengths of arrays that code makes or slices.

A shape is the lengths of the axes as forms; None stands for a number or for an unknown shape. Slices are
assumed to lie within their array. A call of a function of the module that only returns an expression is read
as this expression; a call of any other function of integers remains a call.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import field

from dlbrt.records import dataclass

from dlbc.algebra.bounds import minimum
from dlbc.algebra.integer_form import ZERO, IntegerForm
from dlbc.algebra.sums import trip_count
from dlbc.analysis.subscripts import Forms, InnerNames, SubscriptReader, all_known
from dlbc.analysis.uses import root_name, unparsed
from dlbc.ir.region import CodeRegion
from dlbc.library.row import CostKind
from dlbc.library.table import lookup

Shape = tuple[IntegerForm, ...] | None


@dataclass
class ShapeInputs:
    """The inputs of reading the expressions of one region.

    ``full`` resolves a function to its dotted name. ``inline`` gives the form of a call of one of the
    module's functions. ``whole`` says of a name whether it is an integer. ``results``: the shapes that calls
    gave. ``depths``: the number of subscripts by which each array is indexed.
    """

    full: Callable[[ast.expr], str]
    inline: Callable[[ast.Call], IntegerForm | None]
    whole: Callable[[str], bool] | None = None
    shapes: dict[str, Shape] = field(default_factory=dict)
    results: dict[ast.AST, Shape] = field(default_factory=dict)
    depths: Mapping[str, int] = field(default_factory=dict)


class ShapeInference(SubscriptReader):
    """Reads the expressions of one region and their shapes."""

    def __init__(self, region: CodeRegion, inputs: ShapeInputs) -> None:
        super().__init__(region)
        self.inputs = inputs

    def is_whole(self, name: str) -> bool:
        """Whether a name from outside surely is an integer."""
        if name.startswith("len(") or ".shape[" in name:
            return True
        return super().is_whole(name) or (self.inputs.whole is not None and self.inputs.whole(name))

    def form(self, node: ast.expr, forms: Forms, hidden: InnerNames) -> IntegerForm | None:
        """``node`` as an integer form; lengths of arrays made here are known."""
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[argument], keywords=[]):
                return self.length(argument, forms, hidden)
            case ast.Subscript(
                value=ast.Attribute(value=array, attr="shape"), slice=ast.Constant(value=int(axis))
            ):
                return self._known_length(array, axis, forms, hidden) or super().form(node, forms, hidden)
            case ast.Call(keywords=[]):
                return super().form(node, forms, hidden) or self.inputs.inline(node)
        return super().form(node, forms, hidden)

    def length(self, node: ast.expr, forms: Forms, hidden: InnerNames) -> IntegerForm | None:
        """``len(node)``."""
        match node:
            case ast.List(elts=parts) | ast.Tuple(elts=parts):
                starred = any(isinstance(part, ast.Starred) for part in parts)
                return None if starred else IntegerForm.literal(len(parts))
            case ast.Call(func=function, args=[_, *_] as args):
                name = self.inputs.full(function)
                if name == "builtins.range":
                    return self._counted(args, forms, hidden)
                if lookup(name).as_long:
                    return self.length(args[0], forms, hidden)
                if name == "builtins.zip":
                    lengths = all_known(self.length(argument, forms, hidden) for argument in args)
                    return None if lengths is None else minimum(lengths)
        return self._known_length(node, 0, forms, hidden) or self._outer_length(node, 0, hidden)

    def _counted(self, args: list[ast.expr], forms: Forms, hidden: InnerNames) -> IntegerForm | None:
        known = all_known(self.form(a, forms, hidden) for a in args)
        if known is None or not 1 <= len(known) <= 3:
            return None
        start, stop = (ZERO, known[0]) if len(known) == 1 else (known[0], known[1])
        return trip_count(start, stop, known[2] if len(known) == 3 else IntegerForm.literal(1))

    def _known_length(
        self, node: ast.expr, axis: int, forms: Forms, hidden: InnerNames
    ) -> IntegerForm | None:
        shape = self.shape(node, forms, hidden)
        return shape[axis] if shape is not None and -len(shape) <= axis < len(shape) else None

    def _outer_length(self, node: ast.expr, axis: int, hidden: InnerNames) -> IntegerForm | None:
        """The length of an axis of an array from outside."""
        if root_name(node) is None or not self._outside(node, hidden):
            return None
        name = unparsed(node)
        length = f"{name}.shape[{axis}]" if axis else f"len({name})"
        return IntegerForm.parameter(length)

    def shape(self, node: ast.expr, forms: Forms, hidden: InnerNames) -> Shape:
        """The shape of an array, as far as it is known."""
        match node:
            case ast.Name(id=name):
                return self.inputs.shapes.get(name)
            case ast.Attribute(value=value, attr="T"):
                shape = self.array(value, forms, hidden)
                return None if shape is None else shape[::-1]
            case ast.Subscript():
                return self._subscripted(node, forms, hidden)
            case ast.BinOp(left=left, op=op, right=right):
                if isinstance(op, ast.MatMult):
                    return _product(self.array(left, forms, hidden), self.array(right, forms, hidden))
                return broadcast(self.shape(left, forms, hidden), self.shape(right, forms, hidden))
            case ast.UnaryOp(operand=operand) | ast.IfExp(body=operand) | ast.NamedExpr(value=operand):
                return self.shape(operand, forms, hidden)
            case ast.Compare(left=left, comparators=others):
                return broadcast(*(self.shape(part, forms, hidden) for part in (left, *others)))
            case ast.Call():
                return self._called(node, forms, hidden)
        return None

    def array(self, node: ast.expr, forms: Forms, hidden: InnerNames, axes: int = 1) -> Shape:
        """The shape of an array with at least ``axes`` axes; arrays from outside have symbolic lengths."""
        shape = self.shape(node, forms, hidden)
        if shape is not None or root_name(node) is None or not axes:
            return shape
        depth = max(self.inputs.depths.get(unparsed(node), 0), axes)
        return all_known(self._outer_length(node, axis, hidden) for axis in range(depth))

    def _subscripted(self, node: ast.Subscript, forms: Forms, hidden: InnerNames) -> Shape:
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        base = self.shape(node.value, forms, hidden)
        if base is None:
            base = self.array(node.value, forms, hidden, len(parts))
        if base is None or len(base) < len(parts):
            return None
        kept: list[IntegerForm] = []
        for part, length in zip(parts, base, strict=False):
            if isinstance(part, ast.Slice):
                inner = self._sliced(part, length, forms, hidden)
                if inner is None:
                    return None
                kept.append(inner)
            elif self.shape(part, forms, hidden) or (
                isinstance(part, ast.Constant) and type(part.value) is not int
            ):
                return None
        return (*kept, *base[len(parts) :]) or None

    def _sliced(
        self, node: ast.Slice, length: IntegerForm, forms: Forms, hidden: InnerNames
    ) -> IntegerForm | None:
        step = None if node.step is None else self.form(node.step, forms, hidden)
        stride = 1 if node.step is None else None if step is None else step.constant
        ends = [None if end is None else self.form(end, forms, hidden) for end in (node.lower, node.upper)]
        given = (node.lower is not None) + (node.upper is not None)
        if not stride or given != sum(end is not None for end in ends):
            return None
        low, high = [None if f is None else length + f if (f.constant or 0) < 0 else f for f in ends]
        if stride < 0:
            return length if low is None and high is None and stride == -1 else None
        if stride == 1 and (low is None or high is None):  # slices lie within their array
            high = length if high is None else high
            return high if low is None else high - low
        return trip_count(low or ZERO, length if high is None else high, IntegerForm.literal(stride))

    def _called(self, node: ast.Call, forms: Forms, hidden: InnerNames) -> Shape:
        if node in self.inputs.results:
            return self.inputs.results[node]
        name = self.inputs.full(node.func)
        if not name.startswith("numpy."):
            match node.func:
                case ast.Attribute(value=value, attr=method) if lookup(f".{method}").cost is CostKind.LIKE:
                    return self.array(value, forms, hidden)
            return None
        shapes = [self.shape(a, forms, hidden) for a in node.args]
        row = lookup(name)
        if row.cost is CostKind.CREATION:
            return self._made(name, node, forms, hidden)
        if row.cost is CostKind.PRODUCT and len(node.args) > 1:
            return _product(*(self.array(a, forms, hidden) for a in node.args[:2]))
        if row.cost is CostKind.REDUCTION or not shapes:
            return None
        if row.cost is CostKind.LIKE:
            return self.array(node.args[0], forms, hidden)
        return broadcast(*shapes) if row.computes else None

    def _made(self, name: str, node: ast.Call, forms: Forms, hidden: InnerNames) -> Shape:
        if not node.args:
            return None
        if name == "numpy.arange":
            count = self._counted(node.args, forms, hidden) if len(node.args) <= 3 else None
            return None if count is None else (count,)
        first = node.args[0]
        parts = first.elts if isinstance(first, ast.Tuple | ast.List) else [first]
        return all_known(self.form(part, forms, hidden) for part in parts)


def broadcast(*shapes: Shape) -> Shape:
    """The shape of an operation on arrays, axis by axis; the lengths are assumed to match."""
    known = [shape for shape in shapes if shape is not None]
    if not known:
        return None
    longest = max(known, key=len)
    one = IntegerForm.literal(1)
    lengths = list(longest)
    for shape in known:
        for axis in range(1, len(shape) + 1):
            if lengths[-axis] == one:
                lengths[-axis] = shape[-axis]
    return tuple(lengths)


def _product(left: Shape, right: Shape) -> Shape:
    if left is None or right is None:
        return None
    rows, columns = left[:-1], right[:-2] + right[-1:] if len(right) > 1 else ()
    return (*rows, *columns) or None
