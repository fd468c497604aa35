"""The state of one pass over a body, and the checks by which an iteration is left to Python."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from dlbc.analysis.uses import bound_names
from dlbc.ir.chunk import Column
from dlbc.native.extents import Linear, Scope
from dlbc.native.facts import (
    BodyFacts,
    NotCompilableError,
    array_of,
    helper,
    nodes_without,
    row_text,
    standing_for,
)
from dlbc.native.inline_calls import stored_parameters
from dlbc.native.local_arrays import Allocation, allocation_of, element_key, find_local_arrays
from dlbc.native.lowering_records import Demands, Level, OwnArrays
from dlbc.native.scalars import CHECKED, FITTING, NUMPY, Kind, Scalar, Sign, checked, integer


class LoweringState(ABC):
    """One pass over a body, with what earlier passes have found of its names."""

    def __init__(
        self,
        facts: BodyFacts,
        known: Mapping[str, Scalar],
        body: Sequence[ast.stmt],
        traced: frozenset[str] = frozenset(),
    ) -> None:
        #: Names whose origin is followed, as found by earlier passes, and by this one.
        self._traced, self.traced = traced, set(traced)
        self._origins: list[str] = []
        self._meanings: dict[str, ast.expr] = {}
        self.bound: dict[str, Scalar] = {}
        self._facts, self._known = facts, known
        self._scope = Scope(
            facts.index,
            facts.names.low,
            facts.names.high,
            self._invariant,
            self._is_local_number,
            self._has_no_minus,
            self._length,
        )
        #: The chunk, and the loops around, outermost first: before each subscripts may be tested.
        self._chunk, self._levels = Level(), list[Level]()
        self._out: list[ast.stmt] = []
        self._conditional = 0
        self._columns: list[Column] = []
        self._note_rows: list[Column] = []
        self._noted: dict[int, tuple[int, ...]] = {}
        self._conditions: dict[str, None] = {}
        self._wraps = self._checks = False
        self._saved: dict[str, int] = {}
        self._bits = FITTING - 1
        self._asked = Demands()
        self._temporaries = 0
        self._left: dict[str, str] = {}
        self._notes: dict[str, None] = {}
        self._locals = {
            n.id
            for s in body
            for n in ast.walk(s)
            if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
        }
        #: Of these, the names that the body itself binds, and no comprehension alone.
        self._bound = frozenset(bound_names(body)) - {facts.index}
        self._locals |= {facts.index}
        made = find_local_arrays(body, self._allocation)
        self._own = OwnArrays({name: each for name, each in made.items() if name not in facts.parameters})
        #: Arrays that a function within an expression is given: it must not store to them.
        self._protected: frozenset[str] = frozenset()
        self._taken = (
            self._locals
            | set(facts.parameters)
            | {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name)}
            | set(facts.parameters.values())
            | {facts.names.first, facts.names.last, facts.names.step, facts.names.results}
            | set(facts.names.derived([*facts.parameters.values(), *facts.shares]))
        )
        self._stored, read = self._stored_and_read(body)
        self._updated = self._stored & read
        self._inside: tuple[ast.FunctionDef, ...] = ()
        self._shares: dict[str, Scalar] = {}
        self._stored_before = False
        #: A call that is the whole right-hand side; functions called elsewhere must not store.
        self._whole: ast.expr | None = None
        self._pure = False
        #: Whether Python may have failed by now at what iterations leave to it.
        self._fallible = False

    def _allocation(self, node: ast.expr) -> Allocation | None:
        return allocation_of(node, self._facts.imported, self._facts.builtin)

    def _is_local_number(self, name: str) -> bool:
        return name in self._locals and name not in self._own.allocations and name != self._facts.index

    def _is_list(self, node: ast.expr) -> bool:
        """Whether an expression is a list of the iteration."""
        local = self._local(node)
        return bool(local) and self._own.allocations[local].is_list

    def _length(self, node: ast.expr) -> Linear | None:
        """The length of an array that the iteration has made; None where an expression is none."""
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)], keywords=[]) if (
                self._facts.builtin("len")
            ):
                axis = 0
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
                slice=ast.Constant(value=int() as axis),
            ):
                pass
            case _:
                return None
        lengths = self._own.lengths.get(name, ())
        return lengths[axis] if 0 <= axis < len(lengths) else None

    def _local(self, node: ast.expr) -> str:
        """The array of the iteration that an expression is; empty if it is none."""
        return node.id if isinstance(node, ast.Name) and node.id in self._own.allocations else ""

    def _given_element(self, name: str) -> Scalar:
        """What is known of an element of an array or list that the loop is given.

        Numbers of lists are Python's. Where the text does not show a list, it is taken for an array, and the
        runtime refuses lists for which that makes a difference.
        """
        kind = self._facts.lists.get(name)
        if kind is None:
            return Scalar(Kind.ANY, frozenset({name}), element=True)
        self._asked.python.add(name)
        if kind is Kind.INEXACT:
            self._asked.floats.add(name)
            return Scalar(kind)
        self._asked.integers.add(name)
        return integer(degree=1)

    def _element_of(self, local: str) -> Scalar:
        """What is known of an element of an array, or list, that the iteration has made."""
        made = self._own.elements[local]
        if not self._own.allocations[local].is_list:
            return made
        known = self._name(element_key(local))
        return checked(replace(known, kind=made.kind)) if made.kind is Kind.INTEGER else known

    def _stored_and_read(self, body: Sequence[ast.stmt]) -> tuple[set[str], set[str]]:
        """The arrays to which iterations, or functions that they call, store, and those that they read."""
        facts, effects = self._facts, self._facts.effects
        stores = [
            n
            for s in body
            for n in nodes_without(s, effects)
            if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)
        ]
        stored = {name for n in stores if (name := self._array(array_of(n)))}
        read = {
            name
            for s in body
            for n in nodes_without(s, effects)
            if isinstance(n, ast.Subscript)
            and isinstance(n.ctx, ast.Load)
            and (name := self._array(array_of(n)))
        }
        read |= {
            name
            for s in body
            for n in nodes_without(s, effects)
            if isinstance(n, ast.AugAssign)
            and isinstance(n.target, ast.Subscript)
            and (name := self._array(array_of(n.target)))
        }
        for call in (n for s in body for n in nodes_without(s, effects) if isinstance(n, ast.Call)):
            function = facts.functions(call.func.id) if isinstance(call.func, ast.Name) else None
            places = set(stored_parameters(function)) if function is not None else set()
            changed = {self._array(array_of(a)) for k, a in enumerate(call.args) if k in places} - {""}
            stored |= changed
            if function is not None:  # which may read any of them
                given = [*call.args, *(each.value for each in call.keywords)]
                read |= {self._array(array_of(each)) for each in given} - {""}
        return stored, read

    def _updates(self, body: Sequence[ast.stmt]) -> bool:
        """Whether statements store to an array that iterations also read."""
        nodes = (
            n
            for s in body
            for n in ast.walk(s)
            if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)
        )
        return any(self._array(array_of(n)) in self._updated for n in nodes)

    def _store(self, target: ast.Subscript) -> None:
        if self._local(array_of(target)):
            if self._local(array_of(target)) in self._protected:
                raise NotCompilableError("a function that stores is called within an expression", target)
            return
        if self._fallible:
            raise NotCompilableError("it stores after an update that may fail", target)
        if self._pure:
            raise NotCompilableError("a function that stores is called within an expression", target)
        if self._array(array_of(target)) not in self._stored:
            raise NotCompilableError("a function stores to an array that another one gives it", target)
        if self._array(array_of(target)) in self._updated:
            self._stored_before = True

    def _check(self, doubtful: ast.expr) -> None:
        """Leave the iteration to Python where the condition holds."""
        self._out.append(ast.If(doubtful, self._leave(), []))

    @property
    def _can_leave(self) -> bool:
        """Whether what the iteration has stored so far can be taken back."""
        return not self._stored_before or self._updated <= self._facts.rows.keys()

    def _leave(self) -> list[ast.stmt]:
        self._checks = True
        statements: list[ast.stmt] = []
        if self._stored_before:
            for array in sorted(self._updated):
                axis = self._facts.rows.get(array)
                if axis is None:
                    reason = f"a check would stand after a store to `{array}`, which could not be taken back"
                    raise NotCompilableError(reason, ast.Name(array))
                self._saved[array] = axis
                name = self._facts.parameters[array]
                statements.append(
                    ast.parse(
                        f"{row_text(name, axis, self._facts.index)} = {self._facts.names.before(name)}"
                    ).body[0]
                )
        return [*statements, ast.Return(ast.Name(self._facts.index, ast.Load()))]

    def _may_be_too_wide(self, result: Scalar) -> bool:
        """Whether an integer may have more bits than fit, however small the index and parameters are."""
        if not result.may_be_integer:
            return False
        too_wide = result.extra + result.degree > FITTING - 1
        return too_wide or result.extra > FITTING or not result.bounded

    def _fits(self, result: Scalar, node: ast.AST) -> None:
        """Note how large the index and parameters may be for this result to fit."""
        if not result.may_be_integer:
            return
        if result.extra > FITTING or not result.bounded:
            raise NotCompilableError("an integer may exceed 64 bits here", node)
        if result.degree:
            self._bits = min(self._bits, (FITTING - 1 - result.extra) // result.degree)
        if self._bits < 1:
            raise NotCompilableError("an integer may exceed 64 bits here", node)

    def _name(self, name: str) -> Scalar:
        """What is known of a local number, after the check where it has been bound."""
        known = self._known.get(name) or self.bound.get(name) or integer()
        return checked(known) if not known.bounded else known

    def _bind(self, name: str, value: ast.expr, kind: Scalar, augmented: ast.operator | None = None) -> None:
        """Bind a name, and check that an integer without a known bound fits."""
        if name == self._facts.index or name in self._scope.variables:
            raise NotCompilableError(f"`{name}`, which counts, is bound in the body", value)
        if self._fallible and name in self._facts.kept:
            raise NotCompilableError(
                f"`{name}`, which is read later, is bound after an update that may fail", value
            )
        before = self.bound.get(name)
        self.bound[name] = kind if before is None else before.joined(kind)
        self._note_change(name)
        self._left.pop(name, None)
        target = ast.Name(name, ast.Store())
        if augmented is not None and isinstance(value, ast.BinOp):
            self._out.append(ast.AugAssign(target, augmented, value.right))
        else:
            self._out.append(ast.Assign([target], value))
        if name in self._traced:
            origin = ast.Name(self._facts.names.origin(name), ast.Store())
            found = self._bits_of(kind.sources) if kind.certain else self._origin(value)
            self._out.append(ast.Assign([origin], found))
        known = self._known.get(name)
        unsure = kind.extra > CHECKED or kind.element
        if known is not None and not known.bounded and known.may_be_integer and unsure:
            self._check(helper("wide", ast.Name(name, ast.Load())))

    def _note_change(self, name: str) -> None:
        """Let tests before the loops around not depend on a name that is bound here."""
        for level in self._levels:
            level.changing.add(name)

    def _named(self, value: ast.expr, stem: str) -> ast.expr:
        if isinstance(value, ast.Name | ast.Constant):
            return value
        name = self._fresh(stem)
        self._out.append(ast.Assign([ast.Name(name, ast.Store())], value))
        self._meanings[name] = value
        return ast.Name(name, ast.Load())

    def _bits_of(self, sources: Iterable[str]) -> ast.expr:
        self._origins += [each for each in sorted(sources) if each not in self._origins]
        return ast.Constant(sum(1 << self._origins.index(each) for each in sources))

    def _origin(self, value: ast.expr) -> ast.expr:
        """The set of arguments from which a lowered expression is computed, as bits."""
        given = {new: old for old, new in self._facts.parameters.items()}
        match value:
            case ast.Constant():
                return ast.Constant(0)
            case ast.Name(id=name) if name in self._meanings:
                return self._origin(self._meanings[name])
            case ast.Name(id=name) if name in given:
                return self._bits_of({given[name]})
            case ast.Name(id=name) if name == self._facts.index:
                return ast.Constant(0)
            case ast.Name(id=name) if name in self.bound:
                if self._name(name).certain:
                    return self._bits_of(self._name(name).sources)
                self.traced.add(name)
                return ast.Name(self._facts.names.origin(name), ast.Load())
            case ast.Subscript(value=ast.Name(id=name)) if name in given:
                return self._bits_of({given[name]})
            case ast.Subscript(value=ast.Name(id=name)) if name in self._own.elements:
                element = self._element_of(name)
                if element.certain:
                    return self._bits_of(element.sources)
            case ast.Call(func=ast.Attribute(attr="truth_as_integer"), args=[operand]):
                return self._origin(operand)
            case ast.Compare(left=left, comparators=others):
                return reduce(_union, map(self._origin, (left, *others)))
            case ast.Attribute(value=operand, attr="real" | "imag"):
                return self._origin(operand)
            case ast.BinOp(left=one, right=other):
                return _union(self._origin(one), self._origin(other))
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=operand):
                return self._origin(operand)
            case ast.Call(func=ast.Name(id="abs") | ast.Attribute(attr="numpy_power"), args=arguments):
                return reduce(_union, map(self._origin, arguments))
            case ast.Call(func=ast.Name(id="float" | "int" | "round" | "len")):
                return ast.Constant(0)
            case ast.Call(func=ast.Attribute(attr="power")):
                return ast.Constant(0)
            case ast.Call(func=ast.Attribute(value=ast.Attribute(attr="native"), attr=name)):
                if name.startswith("np_"):
                    return self._bits_of({NUMPY})
                if name.startswith("math_"):
                    return ast.Constant(0)
            case ast.Call(func=ast.Attribute() as function):
                if self._facts.imported(ast.unparse(function)).startswith("math."):
                    return ast.Constant(0)
        raise NotCompilableError(
            "it depends on the iteration whether this is a number of numpy or of Python", value
        )

    def _finite(self, value: ast.expr) -> ast.expr:
        """The value under a name, checked to be finite: else Python's function may have raised."""
        named = self._named(value, "value")
        self._check(helper("not_finite", named))
        return named

    def _zero(self, name: str, *, anything: bool) -> ast.stmt:
        """Bind a name that is bound again before it is used; ``anything``: to whatever type it has then."""
        known = self._known.get(name, integer())
        values = {Kind.INEXACT: 0.0, Kind.TRUTH: False}
        if name in self._traced:
            self._out.append(
                ast.Assign([ast.Name(self._facts.names.origin(name), ast.Store())], ast.Constant(0))
            )
        value: ast.expr = ast.Constant(values.get(known.kind, 0))
        if anything and known.kind is Kind.ANY:
            value = helper("UNBOUND").func
        return ast.Assign([ast.Name(name, ast.Store())], value)

    def _has_sign(self, kind: Scalar, least: Sign) -> bool:
        """Whether a float has this sign, or is NaN; its arrays then have to hold floats: integers wrap."""
        if kind.kind is not Kind.INEXACT or kind.sign < least:
            return False
        self._asked.floats |= kind.sources & self._asked.axes.keys()
        return True

    def _nonzero(self, divisor: ast.expr) -> ast.expr:
        """A divisor that is not zero, by a condition or a check."""
        if isinstance(divisor, ast.Name) and divisor.id in self._facts.parameters.values():
            self._conditions.setdefault(f"{divisor.id} != 0")
            return divisor
        divisor = self._named(divisor, "divisor")
        self._check(helper("is_zero", divisor))
        return divisor

    def _nested(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements of an inner block, lowered."""
        outer, self._out = self._out, []
        self.statements(body)
        inner, self._out = self._out, outer
        return inner

    def _note_values(self, *nodes: ast.expr) -> None:
        """Elements of arrays that are computed with, not only subscripts."""
        for node in nodes:
            if isinstance(node, ast.Subscript) and (array := self._array(array_of(node))):
                self._asked.values.add(array)

    def _use(self, name: str) -> None:
        self._asked.used.setdefault(name)

    def _fresh(self, stem: str) -> str:
        while True:
            self._temporaries += 1
            name = stem if self._temporaries == 1 else f"{stem}_{self._temporaries}"
            if name not in self._taken:
                self._taken.add(name)
                return name

    def _array(self, node: ast.expr) -> str:
        """The array that an expression is, as it is known to the program; empty if it is none."""
        text = (
            node.id
            if isinstance(node, ast.Name)
            else ast.unparse(node)
            if isinstance(node, ast.Attribute)
            else ""
        )
        return text if text in self._facts.parameters else ""

    def _is_whole(self, node: ast.expr) -> bool:
        """Whether an expression is an array, or what may be one that the loop is given."""
        return bool(self._local(node) or self._array(node))

    def _ask_for_real(self, kind: Scalar) -> None:
        """The numbers from which this is computed must not be complex."""
        self._asked.real |= kind.sources & self._facts.parameters.keys() - self._asked.axes.keys()

    def _array_node(self, node: ast.expr) -> ast.expr:
        text = self._array(node)
        made = ast.Name(self._facts.parameters[text], ast.Load())
        return made if made.id == text else standing_for(made, node)

    @abstractmethod
    def expression(self, node: ast.expr) -> tuple[ast.expr, Scalar]:
        """An expression to compile, after the checks that it needs, and what is known of its value."""

    @abstractmethod
    def _exact(self, value: ast.expr, kind: Scalar, node: ast.AST) -> ast.expr:
        """An integer that is the same as a float."""

    @abstractmethod
    def condition(self, node: ast.expr) -> tuple[ast.expr, Scalar]:
        """An expression of which it counts alone whether it is true."""

    @abstractmethod
    def _has_no_minus(self, name: str) -> bool:
        """Whether a length, or an integer of the body, is known not to be negative."""

    @abstractmethod
    def _invariant(self, node: ast.expr) -> bool:
        """Whether an integer expression is the same at all times."""

    @abstractmethod
    def statements(self, body: Sequence[ast.stmt]) -> None:
        """Lower statements."""


def _union(one: ast.expr, other: ast.expr) -> ast.expr:
    match one, other:
        case ast.Constant(value=int() as a), ast.Constant(value=int() as b):
            return ast.Constant(a | b)
        case ast.Constant(value=0), _:
            return other
        case _, ast.Constant(value=0):
            return one
    return ast.BinOp(one, ast.BitOr(), other)
