"""What names, and chains of attributes and subscripts, hold while a region is walked.

Each name that the code binds itself has an `AbstractValue`; names from outside are the origins. A chain such
as ``self.A[i].T`` leads to a shared object and a part of it. Values only grow, so repeating a walk ends: the
last walk is the first that used no value that grew afterwards, since another walk would find the same.
"""

from __future__ import annotations

import ast
import builtins
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from dlbc.algebra.integer_form import IntegerForm
from dlbc.analysis.container_paths import Step, from_the_end, picked_out, steps_of
from dlbc.analysis.control_flow import ControlFlow
from dlbc.ir.access import (
    FRESH,
    AbstractValue,
    Access,
    AccessKind,
    Mutation,
    MutationKind,
    Origin,
    OriginKind,
    Origins,
    RegionFacts,
    Subscript,
)
from dlbc.ir.access_path import bracket_text, root_of
from dlbc.ir.region import CodeRegion
from dlbc.library.methods import METADATA, VIEWS
from dlbc.library.table import is_pure

_BUILTINS = frozenset(dir(builtins))

UNKNOWN = frozenset({Origin(OriginKind.UNKNOWN)})
CLOSURE = frozenset({Origin(OriginKind.CLOSURE)})

#: Attributes that lead from an object to what others share: its class, the array that a view is of.
_BEYOND = frozenset({"__class__", "base"})

#: Brackets that are followed, and aliases of aliases.
DEEPEST = 4


class Environment(ControlFlow):
    """Names of one region and of the scopes inside it."""

    def __init__(self, region: CodeRegion) -> None:
        super().__init__(region)
        self._env = dict.fromkeys(region.own, FRESH)
        self._env |= {name: _holding(Origin(OriginKind.ELEMENT, name)) for name in region.live_in}
        self._env |= {name: _holding(Origin(OriginKind.SHARED, name)) for name in region.parameters}
        #: What may be found in objects made here.
        self._pool: Origins = frozenset()
        #: What is put into containers, by the name of the container.
        self._contents: dict[str, Origins] = {}
        self._inner: list[ast.AST] = []
        self._tables: dict[ast.AST, dict[str, AbstractValue]] = {}
        self._sure = True
        self._facts = RegionFacts()
        self._read_at_once: set[ast.AST] = set()
        #: What a walk has used: names, generators, contents as ``name[]``, the pool as an empty name.
        self._seen: set[str | ast.AST] = set()
        self._stale = False

    def _grows(self, what: str | ast.AST) -> None:
        """A value has grown, so the walk is stale if it used the value."""
        self._stale = self._stale or what in self._seen

    def _bind(self, name: str, value: AbstractValue, form: IntegerForm | None = None) -> None:
        self._define(name, form)
        for scope in reversed(self._inner):
            if name in self._tables[scope]:
                self._grow(self._tables[scope], name, value)
                return
        if name in self._env:
            self._grow(self._env, name, value)

    def _grow(self, table: dict[str, AbstractValue], name: str, value: AbstractValue) -> None:
        grown = table[name] | value
        if grown != table[name]:
            table[name] = grown
            self._grows(name)

    def _put_into_pool(self, value: AbstractValue) -> None:
        """The value may be found in objects made here."""
        grown = self._pool | value.points_to | value.reachable
        if grown != self._pool:
            self._pool = grown
            self._grows("")

    def _lookup(self, name: str) -> AbstractValue | None:
        """The value of an own name; None for a shared name."""
        self._seen.add(name)
        for scope in reversed(self._inner):
            if name in self._tables[scope]:
                return self._tables[scope][name]
        value = self._env.get(name)
        return None if value is None else self._held(name, value)

    def _put_into(self, container: ast.expr, value: AbstractValue) -> None:
        """A value is put into the container that an expression gives; own names remember it."""
        if isinstance(container, ast.Name) and self._lookup(container.id) is not None:
            held = self._contents.get(container.id, frozenset())
            grown = held | value.points_to | value.reachable
            if grown != held:
                self._contents[container.id] = grown
                self._grows(f"{container.id}[]")

    def _items_of(self, container: ast.expr, value: AbstractValue) -> Origins:
        """The origins of the items of a container made here."""
        if not value.has_mutable_items:
            return frozenset()
        name = getattr(container, "id", "")
        self._seen.add(f"{name}[]")
        put = self._contents.get(name, frozenset())
        items = (o for o in value.reachable | put if o.name not in self._region.module.scalar_containers)
        return frozenset(replace(o, open=False) for o in items)

    @contextmanager
    def _scope(
        self, node: ast.AST, names: dict[str, AbstractValue], integers: frozenset[str]
    ) -> Iterator[None]:
        table = self._tables.setdefault(node, {})
        for name, value in names.items():
            self._grow(table, name, value) if name in table else table.update({name: value})
        hidden, self._hidden = self._hidden, self._hidden | {n: n in integers for n in names}
        before = self._forms, self._steady, self._domain
        self._forms = {n: f for n, f in self._forms.items() if n not in names}
        self._inner.append(node)
        with self._unsure():
            yield
        self._inner.pop()
        self._hidden = hidden
        shown = {n: f for n, f in before[0].items() if n in names}
        self._forms = self._forms | shown
        self._leave(*before)

    @contextmanager
    def _unsure(self) -> Iterator[None]:
        sure, self._sure = self._sure, False
        yield
        self._sure = sure

    def _dotted(self, name: str) -> str:
        root, _, rest = name.partition(".")
        if root in self._region.module.imports:
            return self._region.module.imports[root] + ("." + rest if rest else "")
        return f"builtins.{name}" if not rest and self._builtin(root) else name

    def _builtin(self, name: str) -> bool:
        return self._region.module.builtin(name) and name in _BUILTINS

    def _access(
        self, name: str, axes: tuple[Subscript, ...], kind: AccessKind, node: ast.expr, in_place: bool = False
    ) -> None:
        access = Access(name, self._present(axes), kind, node, self._sure, in_place, self._domain)
        self._facts.accesses.append(access)

    def _change(
        self, origins: Origins, kind: MutationKind, node: ast.expr | ast.stmt, detail: str = ""
    ) -> None:
        if origins := without_closures(origins):
            self._facts.mutations.append(Mutation(self._here(origins), kind, node, detail, self._domain))


def _holding(origin: Origin) -> AbstractValue:
    """A value that is, and gives access to, one origin."""
    return AbstractValue(frozenset({origin}), frozenset({origin}))


class ChainEvaluator(Environment, ABC):
    """Values of names, attributes and subscripts in one region."""

    @abstractmethod
    def _value(self, node: ast.AST | None) -> AbstractValue:
        """What any expression may be."""

    @abstractmethod
    def _property(self, node: ast.Attribute) -> AbstractValue:
        """The value of an attribute that runs a function."""

    def _path(self, node: ast.expr) -> tuple[str, list[ast.expr], bool]:
        """The name of the shared object that ``node`` subscripts, its brackets, and whether the chain
        consists of nothing else; the name is empty if the object is not shared."""
        start, steps = steps_of(node, self._region.expansions)
        runs = any(isinstance(step, ast.Attribute) and self._runs(step) for step in steps)
        if not isinstance(start, ast.Name) or runs or self._lookup(start.id) is not None:
            return "", [], False
        name, rest = self._base_of(start.id, steps)
        brackets = [step.slice for step in rest if isinstance(step, ast.Subscript)]
        return name, brackets, len(brackets) == len(rest)

    def _base_of(self, name: str, steps: list[Step]) -> tuple[str, list[Step]]:
        """The array that a chain leads to by attributes and along the paths, and the steps from there."""
        for position, step in enumerate(steps):
            if isinstance(step, ast.Attribute):
                longer = f"{name}.{step.attr}"
                part = step.attr in METADATA or self._is_view(step.attr)
                leads = not part or longer in self._region.paths
            else:
                longer = name + bracket_text(step.slice) if self._region.paths else ""
                leads = longer in self._region.paths
            if not leads:
                backwards = from_the_end(step) if f"{name}[...]" in self._region.paths else None
                if backwards is not None:
                    return f"{name}[...]", [backwards, *steps[position + 1 :]]
                return name, steps[position:]
            name = longer
        return name, []

    def _is_view(self, attribute: str) -> bool:
        """Whether an attribute gives another view of an array, and is none that the program sets."""
        return attribute in VIEWS and attribute not in self._region.module.implicit_calls.callable_attributes

    def _runs(self, node: ast.Attribute) -> bool:
        """Whether taking the attribute may run a property."""
        properties = self._region.module.implicit_calls.properties
        return node.attr in properties or node in self._region.expansions

    def _brackets(self, brackets: Iterable[ast.expr]) -> tuple[tuple[Subscript, ...], bool]:
        subscripts: tuple[Subscript, ...] = ()
        open_ = True
        for bracket in brackets:
            if open_:
                axes, open_ = self._subscripts.read(bracket, self._forms, self._hidden)
                subscripts += axes
        return subscripts, open_

    def _indices(self, node: ast.expr) -> None:
        """Evaluate the contents of the brackets of a chain."""
        while isinstance(node := picked_out(node, self._region.expansions), ast.Attribute | ast.Subscript):
            if isinstance(node, ast.Subscript):
                self._value(node.slice)
            node = node.value

    def _base(self, node: ast.expr) -> AbstractValue:
        """The value of an object that is stored into, without counting it as read."""
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            return self._chain(node, read=False)
        return self._value(node)

    def _chain(self, node: ast.expr, read: bool = True) -> AbstractValue:
        if read:
            self._indices(node)
        name, _, _ = self._path(node)
        if name:
            root = root_of(name)
            stays = root in self._region.module.constant or root in self._region.outer
            if stays or self._builtin(root):
                return self._static(name, read)
            shared = self._shared(node, read)
            return FRESH if name in self._region.module.numbers else shared
        if isinstance(node, ast.Name):
            return self._lookup(node.id) or FRESH
        if isinstance(node, ast.Attribute):
            if self._runs(node):
                return self._property(node)
            base = self._base(node.value)
            return FRESH if node.attr in METADATA else base.element | self._beside(node)
        if isinstance(node, ast.Subscript):
            base = self._base(node.value)
            axes, open_ = self._subscripts.read(node.slice, self._forms, self._hidden)
            if not base.points_to:
                self._seen.add("")
            reach = base.points_to | base.reachable | (frozenset() if base.points_to else self._pool)
            parts = extended(without_closures(reach) | (base.reachable & CLOSURE), axes, open_)
            return AbstractValue(parts, parts)
        return self._value(node)

    def _beside(self, step: Step) -> AbstractValue:
        """What a step into an object may lead to beside the object's own parts."""
        if not isinstance(step, ast.Attribute):
            return FRESH
        return AbstractValue(UNKNOWN, UNKNOWN) if step.attr in _BEYOND else self._of_class(step.attr)

    def _of_class(self, attribute: str) -> AbstractValue:
        """An attribute of an object may be an attribute of its class, which all objects share."""
        owner = self._region.module.implicit_calls.mutable_class_attributes.get(attribute)
        return _holding(Origin(OriginKind.SHARED, owner, open=False)) if owner else FRESH

    def _static(self, name: str, read: bool) -> AbstractValue:
        """A name of a module, function or class that stays global."""
        full = self._dotted(name)
        if read and is_pure(full):
            return FRESH  # constants and functions of known packages; the modules themselves can be changed
        return _holding(Origin(OriginKind.SHARED, name, open=False))

    def _shared(self, node: ast.expr, read: bool) -> AbstractValue:
        """A chain that begins at a shared name; records the access."""
        start, steps = steps_of(node, self._region.expansions)
        assert isinstance(start, ast.Name)
        name, parts = self._base_of(start.id, steps)
        place: ast.expr = steps[-len(parts) - 1] if len(parts) < len(steps) else start
        if parts and isinstance(part := parts[0], ast.Attribute):
            return FRESH if part.attr in METADATA else self._part(name, (), part, read, closed=True)
        brackets: list[ast.expr] = []
        position = 0
        while position < len(parts) and isinstance(bracket := parts[position], ast.Subscript):
            brackets, place, position = [*brackets, bracket.slice], bracket, position + 1
        subscripts, open_ = self._brackets(brackets)
        rest = parts[position:]
        if rest and isinstance(rest[0], ast.Attribute) and rest[0].attr in METADATA:
            self._part(name, subscripts, place, read, closed=True)
            return FRESH
        value = self._part(name, subscripts, place, read, not open_ or bool(rest))
        for step in rest:
            value |= self._beside(step)
        return value

    def _part(
        self, name: str, subscripts: tuple[Subscript, ...], node: ast.expr, read: bool, closed: bool
    ) -> AbstractValue:
        if read:
            self._access(name, subscripts, AccessKind.READ, node)
        return _holding(Origin(OriginKind.SHARED, name, subscripts, open=not closed))


def without_closures(origins: Origins) -> Origins:
    """The origins other than functions and generators made here."""
    return frozenset(o for o in origins if o.kind is not OriginKind.CLOSURE)


def extended(origins: Origins, axes: tuple[Subscript, ...], open_: bool = False) -> Origins:
    """The origins after one more bracket."""
    after = set()
    for origin in origins:
        longer = origin.open and len(origin.subscripts) < DEEPEST and origin.kind is OriginKind.SHARED
        subscripts = (*origin.subscripts, *axes) if longer else origin.subscripts
        after.add(Origin(origin.kind, origin.name, subscripts, open_ and longer))
    return frozenset(after)
