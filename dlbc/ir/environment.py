"""What names hold while a region is walked, and the facts found on the way.

Each name that the code binds itself has a `Value`; names from outside are the origins. Values only grow, so
that repeating a walk ends.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from dlbc.ir.access import (
    FRESH,
    Access,
    AccessKind,
    Change,
    ChangeKind,
    Facts,
    Origin,
    OriginKind,
    Origins,
    Subscript,
    Value,
)
from dlbc.ir.flow import Flow
from dlbc.ir.form import Form
from dlbc.ir.region import Region

__all__ = ["Environment"]

_BUILTINS = frozenset(dir(builtins))


class Environment(Flow):
    """Names of one region and of the scopes inside it."""

    def __init__(self, region: Region) -> None:
        super().__init__(region)
        self._env = dict.fromkeys(region.own, FRESH)
        for name in region.given:
            origin = frozenset({Origin(OriginKind.ELEMENT, name)})
            self._env[name] = Value(origin, origin)
        for name in region.parameters:
            origin = frozenset({Origin(OriginKind.SHARED, name)})
            self._env[name] = Value(origin, origin)
        self._pool: Origins = frozenset()
        #: What is put into containers, by the name of the container.
        self._contents: dict[str, Origins] = {}
        self._inner: list[ast.AST] = []
        self._tables: dict[ast.AST, dict[str, Value]] = {}
        self._sure = True
        self._facts = Facts()
        self._read_at_once: frozenset[ast.AST] = frozenset()

    def state(self) -> object:
        """What must stop growing."""
        tables = {k: dict(v) for k, v in self._tables.items()}
        return (dict(self._env), tables, self._pool, dict(self._contents))

    def _bind(self, name: str, value: Value, form: Form | None = None) -> None:
        self._define(name, form)
        for scope in reversed(self._inner):
            if name in self._tables[scope]:
                self._tables[scope][name] |= value
                return
        if name in self._env:
            self._env[name] |= value

    def _lookup(self, name: str) -> Value | None:
        """The value of an own name; None for a shared one."""
        for scope in reversed(self._inner):
            if name in self._tables[scope]:
                return self._tables[scope][name]
        value = self._env.get(name)
        return None if value is None else self._held(name, value)

    def _put_into(self, container: ast.expr, value: Value) -> None:
        """A value is put into what an expression gives: remembered of own names."""
        if isinstance(container, ast.Name) and self._lookup(container.id) is not None:
            held = self._contents.get(container.id, frozenset())
            self._contents[container.id] = held | value.outer | value.inner

    def _items_of(self, container: ast.expr, value: Value) -> Origins:
        """What the items of a container made here may be."""
        if not value.holds:
            return frozenset()
        put = self._contents.get(getattr(container, "id", ""), frozenset())
        found = (o for o in value.inner | put if o.name not in self._region.module.plain)
        return frozenset(replace(o, open=False) for o in found)

    @contextmanager
    def _scope(self, node: ast.AST, names: dict[str, Value], integers: frozenset[str]) -> Iterator[None]:
        table = self._tables.setdefault(node, {})
        for name, value in names.items():
            table[name] = table.get(name, FRESH) | value
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
        self, origins: Origins, kind: ChangeKind, node: ast.expr | ast.stmt, detail: str = ""
    ) -> None:
        origins = frozenset(o for o in origins if o.kind is not OriginKind.CLOSURE)
        if origins:
            self._facts.changes.append(Change(self._here(origins), kind, node, detail, self._domain))
