"""Rules for functions whose result may be an argument: a rule reads from the call which one.

Most results of numpy are new. Some functions return an argument itself, or a view of it, where there is
nothing to do: `round` of integers (numpy before 2.4), `diff` of order 0, a type called with an array of that
type. Others return an object that holds one, such as `histogram` with the edges of its bins. Stores into such
a result are stores into the argument. `tests/dlbc/library` checks the rules against numpy itself.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

from dlbc.library.row import Back, Key

NOTHING = Back()

#: How the type of arrays of objects is written.
_OBJECT = ("object", "object_", "'O'", "'object'")


def all_of(call: ast.Call) -> frozenset[Key]:
    """All arguments of a call."""
    return frozenset(range(len(call.args))) | {k.arg or "**" for k in call.keywords}


def _among(call: ast.Call, *keys: Key) -> frozenset[Key]:
    """Those of the keys that the call has."""
    return all_of(call) & frozenset(keys)


def given(call: ast.Call, position: int, keyword: str) -> ast.expr | None:
    """The argument with that position or keyword."""
    if position < len(call.args):
        return call.args[position]
    return next((k.value for k in call.keywords if k.arg == keyword), None)


def _is_constant(node: ast.expr | None, *, but: Iterable[object] = ()) -> bool:
    """Whether it is a literal that is not in ``but``."""
    return isinstance(node, ast.Constant) and node.value not in but


def of_every(call: ast.Call) -> Back:
    """The result of a function argument: any part of the other arguments, or new."""
    return Back(views=all_of(call))


def of_first(call: ast.Call) -> Back:
    """The first argument."""
    return Back(same=_among(call, 0, "a", "x", "object"))


def _copies(call: ast.Call, position: int) -> bool:
    switch = given(call, position, "copy")
    return switch is None or (isinstance(switch, ast.Constant) and switch.value is True)


def of_array(call: ast.Call) -> Back:
    """`numpy.array`: the first argument where it is not copied; items of an array of objects."""
    kind = given(call, 1, "dtype")
    objects = kind is not None and ast.unparse(kind).rpartition(".")[2] in _OBJECT
    first = _among(call, 0, "object")
    return Back(views=frozenset() if _copies(call, 9) else first, held=first if objects else frozenset())


def of_diff(call: ast.Call) -> Back:
    """`numpy.diff`: the argument where the order is 0."""
    order = given(call, 1, "n")
    return NOTHING if order is None or _is_constant(order, but=(0,)) else of_first(call)


def of_power(call: ast.Call) -> Back:
    """`numpy.linalg.matrix_power`: the argument where the exponent is 1."""
    return NOTHING if _is_constant(given(call, 1, "n"), but=(1,)) else of_first(call)


def of_einsum(call: ast.Call) -> Back:
    """One operand: a view of it. Operands follow the subscripts, or have each their own behind them."""
    written = bool(call.args) and _is_constant(call.args[0])
    alone = len(call.args) == 2 if written else len(call.args) <= 3
    return Back(views=frozenset(range(len(call.args)))) if alone else NOTHING


def of_meshgrid(call: ast.Call) -> Back:
    """`numpy.meshgrid`: the arguments where they are not copied."""
    return NOTHING if _copies(call, len(call.args)) else Back(held=frozenset(range(len(call.args))))


def of_bins(position: int) -> Callable[[ast.Call], Back]:
    """`numpy.histogram`: edges of bins that are given."""

    def rule(call: ast.Call) -> Back:
        bins = given(call, position, "bins")
        plain = bins is None or isinstance(bins, ast.Constant)
        return NOTHING if plain else Back(held=_among(call, position, "bins"))

    return rule


def of_sum(call: ast.Call) -> Back:
    """The start where there is nothing to add to it; of lists, one that holds what these hold."""
    start = given(call, 1, "start")
    if start is None or isinstance(start, ast.Constant):
        return NOTHING
    numbers = isinstance(start, ast.Call | ast.BinOp | ast.UnaryOp)
    return Back(same=_among(call, 1, "start"), held=frozenset() if numbers else frozenset({0}))


def of_axes(call: ast.Call) -> Back:
    """A transformation over axes that are given, of which there may be none."""
    return NOTHING if len(call.args) == 1 and {k.arg for k in call.keywords} <= {"norm"} else of_first(call)


def of_nan_to_num(call: ast.Call) -> Back:
    """`numpy.nan_to_num`: the argument where it is not copied."""
    return NOTHING if _copies(call, 1) else of_first(call)
