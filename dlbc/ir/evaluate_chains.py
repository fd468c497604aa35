"""Evaluate chains of attributes and subscripts (``self.A[i].T``): which shared object, which part of it."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterable

from dlbc.ir.access import FRESH, AbstractValue, AccessKind, Origin, OriginKind, Origins, Subscript
from dlbc.ir.environment import Environment
from dlbc.library.methods import METADATA, VIEWS
from dlbc.library.table import is_pure

__all__ = ["CLOSURE", "DEEPEST", "UNKNOWN", "ChainEvaluator", "extended"]

UNKNOWN = frozenset({Origin(OriginKind.UNKNOWN)})
CLOSURE = frozenset({Origin(OriginKind.CLOSURE)})

#: Brackets that are followed, and aliases of aliases.
DEEPEST = 4


class ChainEvaluator(Environment, ABC):
    """Values of names, attributes and subscripts in one region."""

    @abstractmethod
    def _value(self, node: ast.AST | None) -> AbstractValue:
        """What any expression may be."""

    @abstractmethod
    def _property(self, node: ast.Attribute) -> AbstractValue:
        """What an attribute that runs a function gives."""

    def _path(self, node: ast.expr) -> tuple[str, list[ast.expr], bool]:
        """The dotted name of the shared object that ``node`` subscripts, its brackets, and whether nothing
        else stands between; an empty name if the object is no shared one."""
        brackets: list[ast.expr] = []
        attributes: list[str] = []
        plain = True
        while not isinstance(node, ast.Name):
            if isinstance(node, ast.Subscript):
                brackets, node = [node.slice, *brackets], node.value
                if attributes:
                    plain = False
            elif isinstance(node, ast.Attribute) and not self._runs(node):
                attributes, node = [node.attr, *attributes], node.value
            else:
                return "", [], False
        if self._lookup(node.id) is not None:
            return "", [], False
        return ".".join([node.id, *attributes]), brackets, plain and not set(attributes) & (VIEWS | METADATA)

    def _runs(self, node: ast.Attribute) -> bool:
        """Whether taking the attribute may run a property."""
        return node.attr in self._region.module.implicit_calls.properties

    def _brackets(self, brackets: Iterable[ast.expr]) -> tuple[tuple[Subscript, ...], bool]:
        found: tuple[Subscript, ...] = ()
        open_ = True
        for bracket in brackets:
            if open_:
                axes, open_ = self._subscripts.read(bracket, self._forms, self._hidden)
                found += axes
        return found, open_

    def _indices(self, node: ast.expr) -> None:
        """Evaluate what stands in the brackets of a chain."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            if isinstance(node, ast.Subscript):
                self._value(node.slice)
            node = node.value

    def _base(self, node: ast.expr) -> AbstractValue:
        """The value of what is stored into, without counting it as read."""
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            return self._chain(node, read=False)
        return self._value(node)

    def _chain(self, node: ast.expr, read: bool = True) -> AbstractValue:
        if read:
            self._indices(node)
        name, _, _ = self._path(node)
        if name:
            root = name.partition(".")[0]
            if root in self._region.module.constant or self._builtin(root):
                return self._static(name, read)
            return self._shared(node, read)
        if isinstance(node, ast.Name):
            return self._lookup(node.id) or FRESH
        if isinstance(node, ast.Attribute):
            if self._runs(node):
                return self._property(node)
            base = self._base(node.value)
            return FRESH if node.attr in METADATA else base.element | self._of_class(node.attr)
        if isinstance(node, ast.Subscript):
            base = self._base(node.value)
            axes, open_ = self._subscripts.read(node.slice, self._forms, self._hidden)
            if not base.points_to:
                self._seen.add("")
            reach = base.points_to | base.reachable | (self._pool if not base.points_to else frozenset())
            reach = frozenset(o for o in reach if o.kind is not OriginKind.CLOSURE) | (
                base.reachable & CLOSURE
            )
            found = extended(reach, axes, open_)
            return AbstractValue(found, found)
        return self._value(node)

    def _of_class(self, attribute: str) -> AbstractValue:
        """An attribute of an object may be one of its class, which all objects share."""
        owner = self._region.module.implicit_calls.mutable_class_attributes.get(attribute)
        origin = frozenset({Origin(OriginKind.SHARED, owner, open=False)}) if owner else frozenset()
        return AbstractValue(origin, origin)

    def _static(self, name: str, read: bool) -> AbstractValue:
        """A name of a module, function or class that stays global."""
        full = self._dotted(name)
        if read and is_pure(full):
            return FRESH  # figures and functions of known packages; the modules themselves can be changed
        origin = frozenset({Origin(OriginKind.SHARED, name, open=False)})
        return AbstractValue(origin, origin)

    def _shared(self, node: ast.expr, read: bool) -> AbstractValue:
        """A chain that begins at a shared name; records the access."""
        parts: list[ast.Attribute | ast.Subscript] = []
        while isinstance(node, ast.Attribute | ast.Subscript):
            parts, node = [node, *parts], node.value
        assert isinstance(node, ast.Name)
        name, position = node.id, 0
        place: ast.expr = node
        while position < len(parts) and isinstance(part := parts[position], ast.Attribute):
            if part.attr in METADATA:
                return FRESH
            if part.attr in VIEWS:
                return self._found(name, (), part, read, closed=True)
            name, place, position = f"{name}.{part.attr}", part, position + 1
        brackets: list[ast.expr] = []
        while position < len(parts) and isinstance(bracket := parts[position], ast.Subscript):
            brackets, place, position = [*brackets, bracket.slice], bracket, position + 1
        subscripts, open_ = self._brackets(brackets)
        rest = parts[position:]
        if rest and isinstance(rest[0], ast.Attribute) and rest[0].attr in METADATA:
            self._found(name, subscripts, place, read, closed=True)
            return FRESH
        value = self._found(name, subscripts, place, read, not open_ or bool(rest))
        return AbstractValue(value.points_to | UNKNOWN, value.reachable | UNKNOWN) if rest else value

    def _found(
        self, name: str, subscripts: tuple[Subscript, ...], node: ast.expr, read: bool, closed: bool
    ) -> AbstractValue:
        if read:
            self._access(name, subscripts, AccessKind.READ, node)
        origin = frozenset({Origin(OriginKind.SHARED, name, subscripts, open=not closed)})
        return AbstractValue(origin, origin)


def extended(origins: Origins, axes: tuple[Subscript, ...], open_: bool = False) -> Origins:
    """The origins after one more bracket."""
    found = set()
    for origin in origins:
        longer = origin.open and len(origin.subscripts) < DEEPEST and origin.kind is OriginKind.SHARED
        subscripts = (*origin.subscripts, *axes) if longer else origin.subscripts
        found.add(Origin(origin.kind, origin.name, subscripts, open_ and longer))
    return frozenset(found)
