"""What a region of code does with data: accesses, possible origins of values, mutations, calls.

`walk_code` finds these facts, for loop bodies and for functions alike. An access with fewer subscripts than
the array has axes touches everything along the remaining axes, so dropping a subscript is always safe.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import field, replace
from enum import Enum

from dlbrt.records import dataclass

from dlbc.algebra.delinearize import is_linear
from dlbc.algebra.integer_form import (
    OF_ITERATION,
    Condition,
    IntegerForm,
    Variable,
    VariableKind,
    is_fixed,
    replaced_in,
)
from dlbc.ir.access_path import is_part, root_of, text_of
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.region import Expansion

#: What stands for a variable instead.
Change = Callable[[Variable], IntegerForm]


def _replaced(form: IntegerForm | None, change: Change) -> IntegerForm | None:
    return None if form is None else form.replaced(change)


@dataclass(frozen=True, slots=True)
class Subscript:
    """One axis of an access: one integer (``form``), everything (``:``), a slice, or unknown.

    ``integer``: it is surely one integer, so that the positions of the axes after it are certain. ``span``:
    start, stop (None: the end of the axis) and positive step of a slice.
    """

    text: str
    form: IntegerForm | None = None
    full: bool = False
    integer: bool = False
    span: tuple[IntegerForm | None, IntegerForm | None, int] | None = None

    @property
    def depends_on_index(self) -> bool:
        """Whether it depends on the loop's index or items directly, not only through inner loops."""
        return any(form.depends_on(OF_ITERATION) for form in self.forms)

    @property
    def forms(self) -> tuple[IntegerForm, ...]:
        """The forms that it consists of."""
        ends = (self.form,) if self.span is None else self.span[:2]
        return tuple(form for form in ends if form is not None)

    def replaced(self, change: Change) -> Subscript:
        """The subscript with every variable replaced."""
        if self.span is None:
            return replace(self, form=_replaced(self.form, change))
        start, stop, step = self.span
        return replace(self, span=(_replaced(start, change), _replaced(stop, change), step))

    def rescoped(self, around: frozenset[int]) -> Subscript:
        """The subscript with the variables of inner loops other than those ``around`` marked out of scope."""

        def is_outside(variable: Variable) -> bool:
            inner = variable.kind is VariableKind.INNER and not variable.out_of_scope
            return inner and variable.number not in around

        def loose(variable: Variable) -> IntegerForm:
            return IntegerForm.of(replace(variable, out_of_scope=True) if is_outside(variable) else variable)

        if not any(is_outside(v) for form in self.forms for v in form.variables):
            return self

        return self.replaced(loose)


@dataclass(frozen=True, slots=True)
class InnerLoop:
    """The variable of an inner loop over ``range(start, stop, step)``; None where unknown.

    ``symbolic_step``: a step that is not a literal. ``exact``: it takes all of these values and no others.
    """

    variable: Variable
    start: IntegerForm | None
    stop: IntegerForm | None
    step: int | None
    exact: bool = True
    symbolic_step: IntegerForm | None = None

    def replaced(self, change: Change) -> InnerLoop:
        """The loop with every variable in its bounds replaced."""
        start, stop = _replaced(self.start, change), _replaced(self.stop, change)
        step = _replaced(self.symbolic_step, change)
        literal = None if step is None else step.constant
        exact = self.exact or bool(literal and start is not None and stop is not None)
        symbolic_step = None if literal else step
        return InnerLoop(self.variable, start, stop, literal or self.step, exact, symbolic_step)


@dataclass(frozen=True, slots=True)
class SupposedGuard:
    """A condition that holds if these names from outside hold integers."""

    condition: Condition
    integers: frozenset[str]


@dataclass(frozen=True, slots=True)
class IterationDomain:
    """When something is executed: the inner loops, outermost first, and the conditions around it.

    ``exact``: every iteration executes it once for each value of the variables that satisfies the conditions;
    otherwise at most for these values. ``supposed``: conditions that hold as well if names from outside,
    which may hold anything, hold integers.
    """

    inner_loops: tuple[InnerLoop, ...] = ()
    guards: tuple[Condition, ...] = ()
    exact: bool = True
    supposed: tuple[SupposedGuard, ...] = ()

    def replaced(self, change: Change) -> IterationDomain:
        """The domain with every variable from outside replaced."""
        inner_loops = tuple(loop.replaced(change) for loop in self.inner_loops)
        guards = tuple(replaced_in(g, change) for g in self.guards)
        supposed = tuple(replace(s, condition=replaced_in(s.condition, change)) for s in self.supposed)
        return IterationDomain(inner_loops, guards, self.exact, supposed)

    def in_all_iterations(self) -> IterationDomain:
        """The domain without the conditions that hold in some iterations and not in others."""
        guards = tuple(guard for guard in self.guards if is_fixed(guard))
        return self if guards == self.guards else replace(self, guards=guards, exact=False)

    def supposing(self, integers: Set[str]) -> IterationDomain:
        """The domain where these names from outside hold integers."""
        guards = tuple(s.condition for s in self.supposed if s.integers <= integers)
        return replace(self, guards=(*self.guards, *guards)) if guards else self


class AccessKind(Enum):
    """Reading, overwriting, or both."""

    READ = "read"
    WRITE = "write"
    UPDATE = "update"


@dataclass(frozen=True)
class Access:
    """One access to elements of ``array`` (a name, or a path: ``self.A``, ``state['v']``).

    ``unconditional``: every iteration executes it once. ``in_place``: it goes through an element object.
    """

    array: str
    subscripts: tuple[Subscript, ...]
    kind: AccessKind
    node: ast.expr | ast.stmt
    unconditional: bool = False
    in_place: bool = False
    domain: IterationDomain = IterationDomain(exact=False)

    @property
    def writes(self) -> bool:
        """Whether it stores."""
        return self.kind is not AccessKind.READ

    @property
    def has_all_subscripts(self) -> bool:
        """Whether ``subscripts`` holds everything in its brackets, so that it selects one element or row."""
        node, depth = self.node, 0
        while isinstance(node, ast.Subscript) and not self._is_array(node):
            depth += len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
            node = node.value
        return depth == len(self.subscripts)

    @property
    def direct(self) -> bool:
        """Whether the brackets follow the array's own name, not the name of a view or an argument."""
        node: ast.AST = self.node
        while isinstance(node, ast.Subscript) and not self._is_array(node):
            node = node.value
        return isinstance(node, ast.expr) and text_of(node) == self.array

    @property
    def start(self) -> ast.AST:
        """The expression that the chain of attributes and brackets begins with."""
        node: ast.AST = self.node
        while isinstance(node, ast.Subscript | ast.Attribute):
            node = node.value
        return node

    def _is_array(self, node: ast.Subscript) -> bool:
        """Whether the brackets lead to the array, and are no subscripts of it (``state["v"]``)."""
        return self.array.endswith("]") and text_of(node) == self.array

    def replaced(self, change: Change) -> Access:
        """The access with every variable from outside replaced."""
        subscripts = tuple(s.replaced(change) for s in self.subscripts)
        return replace(self, subscripts=subscripts, domain=self.domain.replaced(change))

    def overlaps(self, array: str) -> bool:
        """Whether it touches that array, the object that holds it, or a part of it."""
        return self.array == array or is_part(array, self.array) or is_part(self.array, array)

    def as_origins(self) -> Origins:
        """The accessed elements as the origin of an object found there."""
        return frozenset({Origin(OriginKind.SHARED, self.array, self.subscripts)})

    def through_alias(self, array: str, shift: IntegerForm | None) -> Access:
        """The same access through another name, whose subscripts on axis 0 are greater by ``shift``.

        None: the offset of the alias into the array is unknown.
        """
        if shift is None:
            return replace(self, array=array, subscripts=(Subscript("..."),))
        if not self.subscripts or not shift.terms:
            return replace(self, array=array)
        first = self.subscripts[0]
        # The ends of a slice may count from the view's own end.
        moved = Subscript(first.text) if first.form is None else replace(first, form=first.form + shift)
        return replace(self, array=array, subscripts=(moved, *self.subscripts[1:]))

    @property
    def root(self) -> str:
        """The name that the path to the array begins with."""
        return root_of(self.array)


class OriginKind(Enum):
    """Where an object may come from if it is not new."""

    SHARED = "shared"
    ELEMENT = "element"
    UNKNOWN = "unknown"
    CLOSURE = "closure"


@dataclass(frozen=True, slots=True)
class Origin:
    """An object may be (part of) ``name`` at ``subscripts``; ``open`` if more subscripts may follow."""

    kind: OriginKind
    name: str = ""
    subscripts: tuple[Subscript, ...] = ()
    open: bool = True


Origins = frozenset[Origin]


@dataclass(frozen=True, slots=True)
class AbstractValue:
    """The origins of what an expression may be, and of what may be reachable in it; empty means new.

    ``has_mutable_items``: it may be a new container with items that can change in place (``t[0] += 1``).
    """

    points_to: Origins = frozenset()
    reachable: Origins = frozenset()
    has_mutable_items: bool = False

    def __or__(self, other: AbstractValue) -> AbstractValue:
        return AbstractValue(
            self.points_to | other.points_to,
            self.reachable | other.reachable,
            self.has_mutable_items or other.has_mutable_items,
        )

    @property
    def element(self) -> AbstractValue:
        """The value of an element, an attribute or an iterated item of it."""
        reach = frozenset(replace(o, open=False) for o in self.points_to | self.reachable)
        return AbstractValue(reach, reach)

    @property
    def contained(self) -> AbstractValue:
        """A new object that holds it."""
        return AbstractValue(frozenset(), self.points_to | self.reachable, has_mutable_items=True)


FRESH = AbstractValue()


class MutationKind(Enum):
    """How an object is changed other than by a subscript store on a shared name."""

    SUBSCRIPT = "subscript"
    ATTRIBUTE = "attribute"
    AUGMENTED = "augmented"
    METHOD = "method"
    ARGUMENT = "argument"
    DELETE = "delete"


@dataclass(frozen=True)
class Mutation:
    """An object with these origins is changed in place; ``detail``: the method or function that does it."""

    origins: Origins
    kind: MutationKind
    node: ast.expr | ast.stmt
    detail: str = ""
    domain: IterationDomain = IterationDomain(exact=False)


@dataclass(frozen=True)
class CallSite:
    """One call. ``function`` is its dotted name: resolved (``numpy.zeros``), or ``.method``, or empty."""

    function: str
    node: ast.Call
    receiver: AbstractValue | None
    arguments: tuple[tuple[str | int, AbstractValue, ast.expr], ...]


@dataclass
class RegionFacts:
    """The data-flow facts of one region of code, in document order; with the expansions of its calls.

    ``escapes``: values that are put into some object, with the object's name where it has one.
    """

    accesses: list[Access] = field(default_factory=list)
    mutations: list[Mutation] = field(default_factory=list)
    calls: list[CallSite] = field(default_factory=list)
    escapes: list[tuple[AbstractValue, ast.expr, str]] = field(default_factory=list)
    results: list[AbstractValue] = field(default_factory=list)
    expansions: Mapping[ast.AST, Expansion] = field(default_factory=dict)


def in_text_order(accesses: Sequence[Access]) -> list[Access]:
    """In the order of the text."""
    return sorted(accesses, key=lambda a: (getattr(a.node, "lineno", 0), getattr(a.node, "col_offset", 0)))


def without_private(accesses: Sequence[Access], loop: AnnotatedLoop) -> list[Access]:
    """The accesses except those to arrays that the user declared private to an iteration."""
    return [a for a in accesses if a.root not in loop.annotation.private_names]


def depths_of(accesses: Sequence[Access]) -> dict[str, int]:
    """The largest number of subscripts that index each array."""
    found: dict[str, int] = {}
    for access in accesses:
        found[access.array] = max(found.get(access.array, 0), len(access.subscripts))
    return found


def has_arithmetic_subscripts(access: Access) -> bool:
    """Whether arithmetic alone selects its elements, so that iteration order cannot explain a dependence."""
    return all(s.full or (s.forms and not any(f.of_data for f in s.forms)) for s in access.subscripts)


def is_at_items(access: Access) -> bool:
    """Whether items of what the loop runs over are among its subscripts."""
    return any(f.depends_on((VariableKind.ITEM,)) for s in access.subscripts for f in s.forms)


def has_flat_subscripts(access: Access) -> bool:
    """Whether its subscripts have products, quotients or remainders, as those of flat arrays do."""
    return has_arithmetic_subscripts(access) and not all(
        is_linear(f) for s in access.subscripts for f in s.forms
    )


def escaping_arrays(accesses: Sequence[Access], cleared: Mapping[str, Collection[ast.AST]]) -> frozenset[str]:
    """Arrays (``self.A``) whose owner escapes as a whole.

    ``cleared``: for each array, the places where the escape is known not to touch the array.
    """
    found = set()
    for array in {a.array for a in accesses}:
        harmless = cleared.get(array, ())
        if any(is_part(array, a.array) and a.node not in harmless for a in accesses):
            found.add(array)
    return frozenset(found)
