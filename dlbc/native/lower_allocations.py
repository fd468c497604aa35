"""Arrays that iterations make: as buffers of the chunk, filled anew in each iteration, where they can be.

Python raises where a length is negative or the memory does not suffice. Such iterations, and those with
arrays of more than a gigabyte, are left to it (`dlbrt.native.is_shape`).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from dlbrt.records import dataclass

from dlbc.ir.chunk import RUNTIME
from dlbc.native.extents import Linear
from dlbc.native.facts import NotCompilableError, helper
from dlbc.native.local_arrays import Allocation, element_key, element_of
from dlbc.native.lower_expressions import ExpressionLowering
from dlbc.native.scalars import CHECKED, NUMPY, Kind, Scalar, Sign, checked, integer


@dataclass(frozen=True)
class _Shape:
    """``whole`` as an argument of numpy's function, the ``lengths`` that are not known to be possible, all of
    them as forms, and whether they are the same in all iterations.
    """

    whole: ast.expr
    lengths: tuple[ast.expr, ...]
    forms: tuple[Linear, ...]
    is_constant: bool


class AllocationLowering(ExpressionLowering):
    """Lowers what makes arrays."""

    def _make(self, name: str, call: ast.expr, made: Allocation) -> None:
        """Bind a name to a new array."""
        if name in self._facts.kept:
            raise NotCompilableError(f"the array `{name}` is read after the loop", call)
        shape = self._shape(name, made, call)
        if made.is_list:
            self._make_list(name, call, made, shape)
            return
        filling, element = self._filling(name, made, call)
        if self._own.elements.setdefault(name, element) != element:
            raise NotCompilableError(f"`{name}` is an array of one type here, of another one there", call)
        self._note_change(name)
        self._allocate(name, call, made, shape, filling)
        typed = made.kind is not None or made.like is not None
        if typed and filling is not None:
            self._out.append(_filled(name, self._own.allocations[name].axes, filling))

    def _allocate(
        self, name: str, call: ast.expr, made: Allocation, shape: _Shape, filling: ast.expr | None
    ) -> None:
        """Give a name to a new array, or to a buffer of the chunk."""
        self._own.lengths[name] = shape.forms
        new = _assigned(name, self._new(call, made, shape, filling))
        fits = [helper("is_shape", *shape.lengths)] if shape.lengths else []
        typed = made.kind is not None or made.like is not None
        if typed and shape.is_constant and self._own.allocations[name].is_scoped and not self._conditional:
            self._conditions.update(dict.fromkeys(map(ast.unparse, fits)))
            self._own.sizes |= {form.text for form in shape.forms}
            self._own.prologue.append(new)
            self._own.buffers.add(name)
        else:
            for test in fits:
                self._check(ast.UnaryOp(ast.Not(), test))
            self._out.append(new)

    def _make_list(self, name: str, call: ast.expr, made: Allocation, shape: _Shape) -> None:
        """Bind a name to a new list, which compiled code has as an array."""
        given = made.items or (() if made.value is None else (made.value,))
        found = [self.expression(each) for each in given]
        kinds = {kind.kind for _, kind in found} or {Kind.INTEGER}
        kinds = {Kind.INEXACT} if kinds <= {Kind.INEXACT, Kind.ANY} else kinds
        kind = _TYPES_OF_LISTS.get(kinds.pop()) if len(kinds) == 1 else None
        if kind is None:
            raise NotCompilableError(f"the list `{name}` has numbers of several types", call)
        if self._own.elements.setdefault(name, element_of(kind)) != element_of(kind):
            raise NotCompilableError(f"`{name}` is a list of one type here, of another one there", call)
        self._note_change(name)
        values = [self._item(name, value, each, call) for value, each in found]
        if made.is_counted:
            self._item(name, ast.Constant(0), integer(extra=CHECKED), call)
        self._allocate(name, call, replace(made, kind=kind), shape, None)
        if made.items:
            self._out += [_stored(name, ast.Constant(place), value) for place, value in enumerate(values)]
        elif made.is_counted:
            [length] = shape.whole.elts if isinstance(shape.whole, ast.Tuple) else [shape.whole]
            place = self._fresh("at")
            count = ast.Name(place, ast.Load())
            places = ast.Call(ast.Name("range", ast.Load()), [length], [])
            store = _stored(name, count, count)
            self._out.append(ast.For(ast.Name(place, ast.Store()), places, [store], []))
        else:
            self._out.append(_filled(name, self._own.allocations[name].axes, values[0]))

    def _item(self, name: str, value: ast.expr, kind: Scalar, node: ast.AST) -> ast.expr:
        """A number that becomes an element of a list, which has to be of its type, and to fit."""
        wanted = self._own.elements[name].kind
        if wanted is Kind.INEXACT and kind.kind is Kind.ANY and not kind.mixed:
            self._asked.floats |= kind.sources - {NUMPY}
            kind = replace(kind, kind=Kind.INEXACT)
        if kind.kind is not wanted or kind.mixed or kind.complex:
            raise NotCompilableError(f"the list `{name}` gets elements of several types", node)
        if wanted is Kind.INTEGER and (kind.element or kind.extra > CHECKED or not kind.bounded):
            value = self._named(value, "value")
            self._check(helper("wide", value))
            kind = checked(replace(kind, element=False))
        key = element_key(name)
        before = self.bound.get(key)
        kind = replace(kind, element=False, sign=Sign.UNKNOWN)
        self.bound[key] = kind if before is None else before.joined(kind)
        return value

    def _shape(self, name: str, made: Allocation, call: ast.expr) -> _Shape:
        own = tuple(Linear.atom(f"{name}.shape[{axis}]") for axis in range(self._own.allocations[name].axes))
        if made.like is not None:
            return self._shape_like(name, made.like, own)
        if len(made.lengths) != len(own):
            raise NotCompilableError(f"`{name}` has more subscripts in one place than in another", call)
        forms, lengths = [], []
        for node, otherwise in zip(made.lengths, own, strict=True):
            value, kind = self.expression(node)
            if kind.kind not in (Kind.INTEGER, Kind.ANY):
                raise NotCompilableError(f"the length {ast.unparse(node)} is no integer", node)
            lengths.append(self._named(value, "length"))
            form = self._scope.linear(node) if self._own.allocations[name].is_scoped else None
            forms.append(otherwise if form is None or self._may_change(form) else form)
        whole = lengths[0] if len(lengths) == 1 else ast.Tuple(lengths, ast.Load())
        constant = all(map(self._invariant, made.lengths))
        if constant:  # as the program has it: what is named above has no value before the loop
            lengths = [*made.lengths]
            whole = lengths[0] if len(lengths) == 1 else ast.Tuple(lengths, ast.Load())
        literal = all(isinstance(node, ast.Constant) and node.value in range(1025) for node in lengths)
        return _Shape(whole, () if literal else tuple(lengths), tuple(forms), constant)

    def _may_change(self, form: Linear) -> bool:
        """Whether a form has numbers that the body computes, which it may bind again."""
        return bool(form.names & self._locals - self._scope.variables)

    def _shape_like(self, name: str, like: ast.expr, own: tuple[Linear, ...]) -> _Shape:
        """The shape of another array."""
        array = self._shape_of(like)
        if array is None:
            raise NotCompilableError(f"`{ast.unparse(like)}` is no array that the loop is given", like)
        local, axes = self._local(like), len(own)
        if local and (self._own.allocations[local].axes != axes or local not in self._own.elements):
            raise NotCompilableError(f"`{name}` has more subscripts than `{local}`", like)
        if not local and self._asked.axes.setdefault(self._array(like), axes) != axes:
            raise NotCompilableError(f"`{name}` has more subscripts than `{ast.unparse(like)}`", like)
        whole = ast.Attribute(array, "shape", ast.Load())
        lengths = tuple(ast.Subscript(whole, ast.Constant(axis), ast.Load()) for axis in range(axes))
        scoped = self._own.allocations[name].is_scoped
        forms = (
            self._own.lengths[local] if local else tuple(Linear.atom(ast.unparse(each)) for each in lengths)
        )
        constant = local in self._own.buffers if local else True
        return _Shape(
            whole, () if local else lengths, forms if scoped and (constant or not local) else own, constant
        )

    def _filling(self, name: str, made: Allocation, call: ast.expr) -> tuple[ast.expr | None, Scalar]:
        """What all elements are at first, and what is known of an element."""
        value, kind = (None, None) if made.value is None else self.expression(made.value)
        if made.kind is not None:
            element = element_of(made.kind)
        elif made.like is not None:
            element = self._element_like(made.like)
        else:
            assert kind is not None
            element = Scalar(kind.kind, kind.sources | {NUMPY}, element=True)
        if kind is not None and (
            kind.mixed or (Kind.TRUTH in (kind.kind, element.kind) and kind.kind != element.kind)
        ):
            raise NotCompilableError(f"what `{name}` is filled with is of another type", call)
        if made.fill is not None:
            literal = {Kind.INEXACT: float(made.fill), Kind.TRUTH: bool(made.fill)}
            value = ast.Constant(literal.get(element.kind, made.fill))
        return value, element

    def _element_like(self, like: ast.expr) -> Scalar:
        if local := self._local(like):
            return self._own.elements[local]
        self._asked.values.add(self._array(like))
        return Scalar(Kind.ANY, frozenset({self._array(like), NUMPY}), element=True)

    def _new(self, call: ast.expr, made: Allocation, shape: _Shape, filling: ast.expr | None) -> ast.expr:
        """The call that makes the array; it fills it only where it takes its type from what it is filled
        with.
        """
        if made.kind is None and made.like is not None:
            assert isinstance(shape.whole, ast.Attribute)
            return ast.Call(_numpy(call, "empty_like"), [shape.whole.value], [])
        if made.kind is None:
            assert filling is not None
            return ast.Call(_numpy(call, "full"), [shape.whole, filling], [])
        types = [] if made.kind == "float64" else [_numpy(call, made.kind)]
        return ast.Call(_numpy(call, "empty"), [shape.whole, *types], [])


#: The types of lists whose elements are of one kind.
_TYPES_OF_LISTS = {Kind.INEXACT: "float64", Kind.INTEGER: "int64", Kind.TRUTH: "bool_"}


def _numpy(call: ast.expr, name: str) -> ast.expr:
    """Something of numpy, by the name that the program has for numpy where it has one."""
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        return ast.Attribute(call.func.value, name, ast.Load())
    native = ast.Attribute(ast.Name(RUNTIME, ast.Load()), "native", ast.Load())
    return ast.Attribute(ast.Attribute(native, "numpy", ast.Load()), name, ast.Load())


def _assigned(name: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _stored(name: str, place: ast.expr, value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Subscript(ast.Name(name, ast.Load()), place, ast.Store())], value)


def _filled(name: str, axes: int, value: ast.expr) -> ast.stmt:
    """``name[:, :] = value``."""
    parts: Sequence[ast.expr] = [ast.Slice() for _ in range(axes)]
    key = parts[0] if axes == 1 else ast.Tuple([*parts], ast.Load())
    return ast.Assign([ast.Subscript(ast.Name(name, ast.Load()), key, ast.Store())], value)
