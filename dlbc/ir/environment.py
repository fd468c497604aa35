"""What names hold while a region is walked, and the facts found on the way.

Each name that the code binds itself has a `Value`; names from outside are the origins. Values only grow, so
that repeating a walk ends: with the first that looked at nothing that grew afterwards. Another would see the
same, and find the same.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

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
from dlbc.ir.flow import ControlFlow
from dlbc.ir.form import IntegerForm
from dlbc.ir.region import CodeRegion

__all__ = ["Environment"]

_BUILTINS = frozenset(dir(builtins))


class Environment(ControlFlow):
    """Names of one region and of the scopes inside it."""

    def __init__(self, region: CodeRegion) -> None:
        super().__init__(region)
        self._env = dict.fromkeys(region.own, FRESH)
        for name in region.live_in:
            origin = frozenset({Origin(OriginKind.ELEMENT, name)})
            self._env[name] = AbstractValue(origin, origin)
        for name in region.parameters:
            origin = frozenset({Origin(OriginKind.SHARED, name)})
            self._env[name] = AbstractValue(origin, origin)
        self._pool: Origins = frozenset()
        #: What is put into containers, by the name of the container.
        self._contents: dict[str, Origins] = {}
        self._inner: list[ast.AST] = []
        self._tables: dict[ast.AST, dict[str, AbstractValue]] = {}
        self._sure = True
        self._facts = RegionFacts()
        self._read_at_once: set[ast.AST] = set()
        #: What a walk has looked at: names, generators, contents as ``name[]``, the pool as an empty name.
        self._seen: set[str | ast.AST] = set()
        self._stale = False

    def _grows(self, what: str | ast.AST) -> None:
        """Something that the walk goes by is no longer what it was."""
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
        """The value of an own name; None for a shared one."""
        self._seen.add(name)
        for scope in reversed(self._inner):
            if name in self._tables[scope]:
                return self._tables[scope][name]
        value = self._env.get(name)
        return None if value is None else self._held(name, value)

    def _put_into(self, container: ast.expr, value: AbstractValue) -> None:
        """A value is put into what an expression gives: remembered of own names."""
        if isinstance(container, ast.Name) and self._lookup(container.id) is not None:
            held = self._contents.get(container.id, frozenset())
            grown = held | value.points_to | value.reachable
            if grown != held:
                self._contents[container.id] = grown
                self._grows(f"{container.id}[]")

    def _items_of(self, container: ast.expr, value: AbstractValue) -> Origins:
        """What the items of a container made here may be."""
        if not value.has_mutable_items:
            return frozenset()
        name = getattr(container, "id", "")
        self._seen.add(f"{name}[]")
        put = self._contents.get(name, frozenset())
        found = (o for o in value.reachable | put if o.name not in self._region.module.scalar_containers)
        return frozenset(replace(o, open=False) for o in found)

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
        self,
        name: str,
        subscripts: tuple[Subscript, ...],
        kind: AccessKind,
        node: ast.expr,
        in_place: bool = False,
    ) -> None:
        self._facts.accesses.append(
            Access(name, self._present(subscripts), kind, node, self._sure, in_place, self._domain)
        )

    def _change(
        self, origins: Origins, kind: MutationKind, node: ast.expr | ast.stmt, detail: str = ""
    ) -> None:
        origins = frozenset(o for o in origins if o.kind is not OriginKind.CLOSURE)
        if origins:
            self._facts.mutations.append(Mutation(self._here(origins), kind, node, detail, self._domain))
