"""The bytes of arrays that move: with an iteration, and in a run of a loop on P ranks.

The bytes that move with an iteration are those of the rows that it reads of distributed arrays, as the
runtime counts them (`dlbrt.data.field`): arrays that every rank holds do not move, nor does what the loop
only overwrites. An array has the shape given by the last `numpy` constructor before the loop. Otherwise the
loop's subscripts show the number of its axes, whose lengths the user gives. If they show only one axis, the
length of a row is unknown: a row is assumed to be one element, and the output says so.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from math import prod

from dlbrt.contract import Distribution, Mode
from dlbrt.records import dataclass

from dlbc.analysis.enclosing_statements import statements_before
from dlbc.analysis.subscripts import all_known
from dlbc.commands.explain.loop_numbers import LoopNumbers, NumberError
from dlbc.ir.plan import ArrayPlan, LoopPlan
from dlbc.library.row import CostKind
from dlbc.library.table import names_where

#: Bytes of an element, unless the constructor names a type.
_ELEMENT_BYTES = 8

_SIZES = {
    **dict.fromkeys(("bool", "bool_", "int8", "uint8"), 1),
    **dict.fromkeys(("int16", "uint16", "float16"), 2),
    **dict.fromkeys(("int32", "uint32", "float32", "single"), 4),
    **dict.fromkeys(("complex", "complex128"), 16),
}

_CONSTRUCTORS = {
    name.removeprefix("numpy.") for name in names_where(lambda row: row.cost is CostKind.CREATION)
}


@dataclass(frozen=True, slots=True)
class _ArrayShape:
    """The lengths of an array's axes, as expressions, and the bytes of an element.

    ``assumed``: there may be further axes.
    """

    lengths: tuple[ast.expr, ...]
    element_bytes: int = _ELEMENT_BYTES
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class MovementBytes:
    """The bytes that move with an iteration; a row of the arrays ``assumed`` is assumed to be one element."""

    iteration_bytes: float
    assumed: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = f"{self.iteration_bytes:g} bytes with an iteration"
        if not self.assumed:
            return shown
        rows = f"a row of {', '.join(self.assumed)} to be an element of {_ELEMENT_BYTES} bytes"
        return f"{shown}, assuming {rows}; --bytes says otherwise"


def find_movement(plan: LoopPlan, values: LoopNumbers) -> MovementBytes | None:
    """What moves with an iteration; None if lengths are missing, which ``values`` records."""
    moving = [array for array in plan.arrays if _moves(array)]
    sizes = all_known(_row_bytes(array, plan, values) for array in moving)
    if sizes is None:
        return None
    assumed = (array.name for array in moving if (shape := _shape_of(array.name, plan)) and shape.assumed)
    return MovementBytes(float(sum(sizes)), tuple(dict.fromkeys(assumed)))


def _moves(array: ArrayPlan) -> bool:
    by_rows = array.axis is not None and array.distribution is not Distribution.WHOLE
    return by_rows and array.mode is not Mode.WRITE


def _row_bytes(array: ArrayPlan, plan: LoopPlan, values: LoopNumbers) -> int | None:
    shape = _shape_of(array.name, plan)
    rows = max(1, len(array.rows))
    if shape is None:
        from dlbrt.data.field import OBJECT_BYTES

        return rows * OBJECT_BYTES
    why = f"the length of a row of {array.name}"
    inner = [e for axis, e in enumerate(shape.lengths) if axis != array.axis]
    lengths = all_known(values.length(e, why, "--bytes") for e in inner)
    return None if lengths is None else rows * prod(lengths) * shape.element_bytes


def _shape_of(name: str, plan: LoopPlan) -> _ArrayShape | None:
    """The shape of the array; None for a list."""
    last: ast.expr | None = None
    for statement in statements_before(plan.loop):
        for node in ast.walk(statement):
            match node:
                case ast.Assign(targets=[target], value=value) if ast.unparse(target) == name:
                    last = value
    match last:
        case ast.List() | ast.ListComp() | ast.BinOp(op=ast.Mult(), left=ast.List()):
            return None
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=maker), args=[shape, *_]):
            if maker in _CONSTRUCTORS and maker != "arange":
                parts = shape.elts if isinstance(shape, ast.Tuple | ast.List) else [shape]
                return _ArrayShape(tuple(parts), _element_bytes(last))
    depth = max((_depth(node, name) for node in ast.walk(plan.loop.node)), default=1)
    texts = [f"len({name})", *(f"{name}.shape[{axis}]" for axis in range(1, depth))]
    lengths = tuple(ast.parse(text, mode="eval").body for text in texts)
    return _ArrayShape(lengths, assumed=len(lengths) == 1)


def _element_bytes(call: ast.Call) -> int:
    types = [*(k.value for k in call.keywords if k.arg == "dtype"), *call.args[1:2]]
    names = (ast.unparse(node).strip("'\"").rpartition(".")[2] for node in types)
    return next((_SIZES[name] for name in names if name in _SIZES), _ELEMENT_BYTES)


def _depth(node: ast.AST, name: str) -> int:
    """The number of subscripts by which ``node`` selects an element of the array; 0 if it does not."""
    depth = 0
    while isinstance(node, ast.Subscript):
        depth += len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
        node = node.value
    return depth if depth and ast.unparse(node) == name else 0


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that a run of a loop moves: ``rows`` of distributed arrays, there and back, and ``whole`` arrays.

    ``unknown``: arrays whose size is not known, since the ``missing`` numbers are not given, or the text does
    not show their shape. ``assumed``: as in `MovementBytes`.
    """

    rows: float
    whole: float
    unknown: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def traffic_of(plan: LoopPlan, values: LoopNumbers, iterations: int, ranks: int) -> Traffic:
    """What a run on ``ranks`` equal ranks moves over the network, each of them with its share of the rows."""
    rows, whole, unknown, assumed = 0.0, 0.0, list[str](), list[str]()
    halos = {v.name for v in plan.variables if v.halo_below or v.halo_above}
    for array in plan.arrays:
        distributed = array.axis is not None and array.distribution is not Distribution.WHOLE
        each = _bytes_of(array, plan, values) if distributed else _whole_bytes(array, plan, values)
        shape = _shape_of(array.name, plan)
        if each is None:
            unknown.append(array.name)
        elif distributed:
            neighbours = len(array.rows) if array.name in halos else 1  # ranks have these rows anyway
            ways = 2 if array.overwritten else 1  # of there and back, one is left out
            rows += each / neighbours / ways * iterations * (1 - 1 / ranks)
            assumed += [array.name] if shape is not None and shape.assumed else []
        else:
            whole += each * (ranks - 1)
    return Traffic(rows, whole, tuple(unknown), tuple(assumed), tuple(values.missing))


def bytes_of_rows(plan: LoopPlan, values: LoopNumbers, iterations: int) -> float:
    """Bytes of the rows of distributed arrays, there and back; those of unknown length count as none."""
    total = 0.0
    for array in plan.arrays:
        if array.axis is not None and array.distribution is not Distribution.WHOLE:
            total += (_bytes_of(array, plan, values) or 0.0) * iterations
    return total


def _whole_bytes(array: ArrayPlan, plan: LoopPlan, values: LoopNumbers) -> float | None:
    """Bytes of an array that every rank holds; None if unknown."""
    shape = _shape_of(array.name, plan)
    if shape is None or shape.assumed:
        return None
    try:
        lengths = all_known(values.length(e, f"the length of {array.name}") for e in shape.lengths)
    except NumberError:
        return None
    return None if lengths is None else float(prod(lengths) * shape.element_bytes)


def _bytes_of(array: ArrayPlan, plan: LoopPlan, values: LoopNumbers) -> float | None:
    """Bytes of an iteration's rows of a distributed array, there and back; None if unknown."""
    read = replace(plan, arrays=(replace(array, mode=Mode.READ),))
    try:
        found = find_movement(read, values)
    except NumberError:
        return None
    ways = (array.mode is not Mode.WRITE) + (array.mode is not Mode.READ)
    return None if found is None else ways * found.iteration_bytes


def bytes_text(size: float) -> str:
    """A number of bytes with a unit, to three digits."""
    for unit, one in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= one:
            return f"{size / one:.3g} {unit}"
    return f"{size:.0f} bytes"
