"""What a call of a well-known function may give back of its arguments.

Most results of numpy are new. Some functions give an argument itself, or a view of it, where there is nothing
to do: `round` of integers (numpy before 2.4), `diff` of order 0, a type called with an array of that type; or
hold one, as `histogram` the edges of its bins. Stores into such a result are stores into the argument.
`tests/dlbc/ir/test_given_back.py` asks numpy itself.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import TypeAlias

from dlbrt.records import dataclass

from dlbc.ir.known_calls import FRESH_CALLS, GIVING_BACK

__all__ = ["NOTHING", "Back", "given_back", "is_new"]

#: An argument by its position or keyword, as calls list them.
Key: TypeAlias = int | str


@dataclass(frozen=True, slots=True)
class Back:
    """Arguments that the result may be (``same``), be a view of, or hold."""

    same: frozenset[Key] = frozenset()
    views: frozenset[Key] = frozenset()
    held: frozenset[Key] = frozenset()


NOTHING = Back()

#: How the type of arrays of objects is written.
_OBJECT = ("object", "object_", "'O'", "'object'")


def given_back(name: str, call: ast.Call) -> Back | None:
    """What may come back of a call of this function; None where the table has no rule for it."""
    rule = _RULES.get(name)
    if rule is None:
        return None
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        return Back(views=_all(call), held=_all(call))
    return rule(call)


def is_new(name: str, call: ast.Call) -> bool:
    """Whether the result surely shares nothing with the arguments."""
    return name in FRESH_CALLS or (name in GIVING_BACK and given_back(name, call) == NOTHING)


def _all(call: ast.Call) -> frozenset[Key]:
    return frozenset(range(len(call.args))) | {k.arg or "**" for k in call.keywords}


def _among(call: ast.Call, *keys: Key) -> frozenset[Key]:
    """Those of the keys that the call has."""
    return _all(call) & frozenset(keys)


def _given(call: ast.Call, position: int, keyword: str) -> ast.expr | None:
    """The argument with that position or keyword."""
    if position < len(call.args):
        return call.args[position]
    return next((k.value for k in call.keywords if k.arg == keyword), None)


def _is_constant(node: ast.expr | None, *, but: Iterable[object] = ()) -> bool:
    """Whether it is a literal other than those."""
    return isinstance(node, ast.Constant) and node.value not in but


def _every(call: ast.Call) -> Back:
    """What a function gives that is handed on: whatever it is of its arguments, or else of its own."""
    return Back(views=_all(call))


def _first(call: ast.Call) -> Back:
    return Back(same=_among(call, 0, "a", "x", "object"))


def _copies(call: ast.Call, position: int) -> bool:
    switch = _given(call, position, "copy")
    return switch is None or (isinstance(switch, ast.Constant) and switch.value is True)


def _array(call: ast.Call) -> Back:
    kind = _given(call, 1, "dtype")
    objects = kind is not None and ast.unparse(kind).rpartition(".")[2] in _OBJECT
    first = _among(call, 0, "object")
    return Back(views=frozenset() if _copies(call, 9) else first, held=first if objects else frozenset())


def _diff(call: ast.Call) -> Back:
    order = _given(call, 1, "n")
    return NOTHING if order is None or _is_constant(order, but=(0,)) else _first(call)


def _power(call: ast.Call) -> Back:
    return NOTHING if _is_constant(_given(call, 1, "n"), but=(1,)) else _first(call)


def _einsum(call: ast.Call) -> Back:
    """One operand: a view of it. Operands follow the subscripts, or have each their own behind them."""
    written = bool(call.args) and _is_constant(call.args[0])
    alone = len(call.args) == 2 if written else len(call.args) <= 3
    return Back(views=frozenset(range(len(call.args)))) if alone else NOTHING


def _meshgrid(call: ast.Call) -> Back:
    return NOTHING if _copies(call, len(call.args)) else Back(held=frozenset(range(len(call.args))))


def _bins(position: int) -> Callable[[ast.Call], Back]:
    def rule(call: ast.Call) -> Back:
        bins = _given(call, position, "bins")
        plain = bins is None or isinstance(bins, ast.Constant)
        return NOTHING if plain else Back(held=_among(call, position, "bins"))

    return rule


def _sum(call: ast.Call) -> Back:
    """The start where there is nothing to add to it; of lists, one that holds what these hold."""
    start = _given(call, 1, "start")
    if start is None or isinstance(start, ast.Constant):
        return NOTHING
    numbers = isinstance(start, ast.Call | ast.BinOp | ast.UnaryOp)
    return Back(same=_among(call, 1, "start"), held=frozenset() if numbers else frozenset({0}))


def _over_axes(call: ast.Call) -> Back:
    """A transformation over axes that are given, of which there may be none."""
    return NOTHING if len(call.args) == 1 and {k.arg for k in call.keywords} <= {"norm"} else _first(call)


def _nan_to_num(call: ast.Call) -> Back:
    return NOTHING if _copies(call, 1) else _first(call)


_RULES: dict[str, Callable[[ast.Call], Back]] = dict.fromkeys(GIVING_BACK, _first) | {
    "builtins.sum": _sum,
    "numpy.array": _array,
    "numpy.diff": _diff,
    "numpy.einsum": _einsum,
    "numpy.fft.fft2": _over_axes,
    "numpy.fft.ifft2": _over_axes,
    "numpy.fromfunction": _every,
    "numpy.histogram": _bins(1),
    "numpy.histogram2d": _bins(2),
    "numpy.linalg.matrix_power": _power,
    "numpy.meshgrid": _meshgrid,
    "numpy.nan_to_num": _nan_to_num,
}
