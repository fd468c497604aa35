"""Elements of arrays: subscripts that are proved in range before a chunk, or checked where they are used."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dlbc.native.extents import Linear
from dlbc.native.facts import NotCompilableError, array_of, helper, literal_of, subscripts_of
from dlbc.native.lowering_state import LoweringState
from dlbc.native.scalars import Kind, Scalar, integer


class ElementLowering(LoweringState):
    """Lowers subscripts."""

    def _element(self, node: ast.Subscript) -> tuple[ast.expr, Scalar]:
        match node:
            case ast.Subscript(
                value=ast.Attribute(value=owner, attr="shape"), slice=ast.Constant(value=int())
            ) if self._array(owner):
                self._shaped.add(self._array(owner))
                self._use(self._array(owner))
                return ast.Subscript(
                    ast.Attribute(self._array_node(owner), "shape", ast.Load()), node.slice, ast.Load()
                ), integer(degree=1)
        place = self._place(node, ast.Load())
        return place, Scalar(Kind.ANY, frozenset({self._array(array_of(node))}), element=True)

    def _place(self, node: ast.Subscript, context: ast.expr_context) -> ast.expr:
        """An element with subscripts that are in range, by a condition or a check."""
        base, subscripts = array_of(node), subscripts_of(node)
        array = self._array(base)
        if not array:
            raise NotCompilableError(f"`{ast.unparse(base)}` is no array that the loop is given", node)
        self._use(array)
        if self._arrays.setdefault(array, len(subscripts)) != len(subscripts):
            raise NotCompilableError(f"`{array}` has more subscripts in one place than in another", node)
        found = []
        for axis, subscript in enumerate(subscripts):
            if (
                isinstance(subscript, ast.Slice | ast.Tuple | ast.Starred)
                or literal_of(subscript) is Ellipsis
            ):
                raise NotCompilableError("parts of arrays are left to Python, which has numpy for them", node)
            value, kind = self.expression(subscript)
            if kind.kind not in (Kind.INTEGER, Kind.ANY):
                raise NotCompilableError(f"the subscript {ast.unparse(subscript)} is no integer", node)
            if isinstance(subscript, ast.Subscript):
                self._subscripts.add(self._array(array_of(subscript)))
            found.append(self._in_range(array, axis, subscript, value))
        key = found[0] if len(found) == 1 else ast.Tuple(found, ast.Load())
        return ast.Subscript(self._array_node(base), key, context)

    def _in_range(self, array: str, axis: int, subscript: ast.expr, value: ast.expr) -> ast.expr:
        name = self._facts.parameters[array]
        plain = isinstance(subscript, ast.Name | ast.Constant)
        proved = plain or not self._conditional  # `if i > 0: A[i - 1]` would fail where nothing is wrong
        conditions = self._proved(f"{name}.shape[{axis}]", subscript) if proved else None
        if conditions is not None:
            self._conditions.update(dict.fromkeys(conditions))
            return value
        value = self._named(value, "at")
        length = ast.parse(f"{name}.shape[{axis}]", mode="eval").body
        self._check(helper("outside", value, length))
        self._wraps = True
        return value

    def _proved(self, length: str, subscript: ast.expr) -> tuple[str, ...] | None:
        """The conditions under which a subscript is in range; None where that is not known before the
        loop.
        """
        form = self._scope.linear(subscript)
        if form is None:
            return None
        least, most = self._scope.ends(form, least=True), self._scope.ends(form, least=False)
        if least is None or most is None:
            return None
        bound = Linear.literal(0)
        if all(f.number is not None and f.number < 0 for each in least for f in each):
            bound, self._wraps = -Linear.atom(length), True
        sure = [[f for f in each if bound.terms or f.number is None] for each in least]
        low = [[f"{bound.text} <= {f.text}" for f in each] for each in sure]
        high = [[f"{f.text} < {length}" for f in each] for each in most]
        return tuple(_either([" and ".join(each) for each in found]) for found in (low, high) if all(found))

    def _invariant(self, node: ast.expr) -> bool:
        """Whether an integer expression is the same at all times, and can be evaluated before the loop."""
        for each in ast.walk(node):
            match each:
                case ast.Name(id=name):
                    if name in self._locals or (
                        name not in self._facts.parameters and not self._facts.builtin(name)
                    ):
                        return False
                case ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant()):
                    pass
                case ast.Call(func=ast.Name(id="len" | "min" | "max" | "int" as called), keywords=[]) if (
                    self._facts.builtin(called)
                ):
                    pass
                case ast.Attribute(attr="shape" | "size"):
                    pass
                case (
                    ast.Constant(value=int())
                    | ast.BinOp()
                    | ast.UnaryOp()
                    | ast.operator()
                    | ast.unaryop()
                    | ast.expr_context()
                ):
                    pass
                case _:
                    return False
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and each.id in self._facts.parameters:
                self._use(each.id)
        return all(
            self._facts.parameters.get(n.id, n.id) == n.id for n in ast.walk(node) if isinstance(n, ast.Name)
        )


def _either(alternatives: Sequence[str]) -> str:
    if len(alternatives) == 1:
        return alternatives[0]
    return "(" + " or ".join(f"({each})" if " and " in each else each for each in alternatives) + ")"
