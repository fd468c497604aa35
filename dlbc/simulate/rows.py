"""How many bytes go with an iteration that moves: the rows that it reads of the arrays that are dealt.

As the runtime counts them (`dlbrt.dist.field`): what every rank holds does not move, nor what the loop only
overwrites. The shape of an array is that of the last `numpy` constructor before the loop; of another one the
loop's subscripts tell how many axes it has, and their lengths are to be given. Where they show one axis
alone, how long a row is cannot be told: it is assumed to be one element, which is said.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from math import prod

from dlbrt.contract import Distribution, Mode
from dlbrt.dist.field import OBJECT_BYTES
from dlbrt.records import dataclass

from dlbc.ir.before import statements_before
from dlbc.ir.plan import ArrayPlan, LoopPlan
from dlbc.library.row import CostKind
from dlbc.library.table import names_where
from dlbc.simulate.values import LoopNumbers

__all__ = ["MovementBytes", "find_movement"]

#: What an element of an array counts for, unless it says.
_ELEMENT_BYTES = 8

_SIZES = {
    **dict.fromkeys(("bool", "bool_", "int8", "uint8"), 1),
    **dict.fromkeys(("int16", "uint16", "float16"), 2),
    **dict.fromkeys(("int32", "uint32", "float32", "single"), 4),
    **dict.fromkeys(("complex", "complex128"), 16),
}

_MAKERS = {name.removeprefix("numpy.") for name in names_where(lambda row: row.cost is CostKind.CREATION)}


@dataclass(frozen=True, slots=True)
class _Made:
    """What is known of an array: the lengths of its axes as expressions, and the bytes of an element.

    ``assumed``: that there are no other axes is not known.
    """

    lengths: tuple[ast.expr, ...]
    element_bytes: int = _ELEMENT_BYTES
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class MovementBytes:
    """The bytes that move with an iteration; of the arrays ``assumed`` a row is taken to be one element."""

    iteration_bytes: float
    assumed: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = f"{self.iteration_bytes:g} bytes with an iteration"
        if not self.assumed:
            return shown
        rows = f"a row of {', '.join(self.assumed)} to be an element of {_ELEMENT_BYTES} bytes"
        return f"{shown}, assuming {rows}; --bytes says otherwise"


def find_movement(plan: LoopPlan, values: LoopNumbers) -> MovementBytes | None:
    """What moves with an iteration; None where lengths are missing, which ``values`` keep."""
    moving = [array for array in plan.arrays if _moves(array)]
    found = [_row_bytes(array, plan, values) for array in moving]
    known = [size for size in found if size is not None]
    if len(known) < len(found):
        return None
    assumed = (array.name for array in moving if (made := _made(array.name, plan)) and made.assumed)
    return MovementBytes(float(sum(known)), tuple(dict.fromkeys(assumed)))


def _moves(array: ArrayPlan) -> bool:
    by_rows = array.axis is not None and array.distribution is not Distribution.WHOLE
    return by_rows and array.mode is not Mode.WRITE


def _row_bytes(array: ArrayPlan, plan: LoopPlan, values: LoopNumbers) -> int | None:
    made = _made(array.name, plan)
    rows = max(1, len(array.rows))
    if made is None:
        return rows * OBJECT_BYTES
    why = f"the length of a row of {array.name}"
    lengths = [values.length(e, why, "--bytes") for axis, e in enumerate(made.lengths) if axis != array.axis]
    known = [length for length in lengths if length is not None]
    return rows * prod(known) * made.element_bytes if len(known) == len(lengths) else None


def _made(name: str, plan: LoopPlan) -> _Made | None:
    """How the array is made; None for a list."""
    found: ast.expr | None = None
    for statement in statements_before(plan.loop):
        for node in ast.walk(statement):
            match node:
                case ast.Assign(targets=[target], value=value) if ast.unparse(target) == name:
                    found = value
    match found:
        case ast.List() | ast.ListComp() | ast.BinOp(op=ast.Mult(), left=ast.List()):
            return None
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=maker), args=[shape, *_]):
            if maker in _MAKERS and maker != "arange":
                parts = shape.elts if isinstance(shape, ast.Tuple | ast.List) else [shape]
                return _Made(tuple(parts), _element_bytes(found))
    lengths = tuple(_lengths(name, plan))
    return _Made(lengths, assumed=len(lengths) == 1)


def _element_bytes(call: ast.Call) -> int:
    words = [*(k.value for k in call.keywords if k.arg == "dtype"), *call.args[1:2]]
    names = (ast.unparse(word).strip("'\"").rpartition(".")[2] for word in words)
    return next((_SIZES[name] for name in names if name in _SIZES), _ELEMENT_BYTES)


def _lengths(name: str, plan: LoopPlan) -> Iterator[ast.expr]:
    """The axes by which the loop takes elements of an array, as expressions for their lengths."""
    depth = max((_depth(node, name) for node in ast.walk(plan.loop.node)), default=1)
    for axis in range(max(1, depth)):
        yield ast.parse(f"{name}.shape[{axis}]" if axis else f"len({name})", mode="eval").body


def _depth(node: ast.AST, name: str) -> int:
    """By how many subscripts ``node`` takes an element of the array; 0 where it does not."""
    depth = 0
    while isinstance(node, ast.Subscript):
        depth += len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
        node = node.value
    return depth if depth and ast.unparse(node) == name else 0
