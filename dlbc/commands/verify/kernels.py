"""What generated text says of its loops: names that they do not leave, iterations that store an element.

A temporary of a loop that nothing reads afterwards is not brought back from the ranks, so the names of a
parallel run need not hold it. What an iteration reads before it binds it is no temporary, by whatever plan.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_LOOP = re.compile(r"(?m)^# dlbc: loop (?P<kernel>\S+)=(?P<line>\d+) (?P<scope>\S+)$")
_MODULE = "<module>"


@dataclass(frozen=True, slots=True)
class Store:
    """A store to an element: the loop's line, its index, the array, and which subscripts are the index."""

    line: int
    index: str
    array: str
    axes: tuple[int, ...]

    def __str__(self) -> str:
        return f"the loop on line {self.line}"


@dataclass(frozen=True, slots=True)
class Kernels:
    """The loops of a module: names that they need not leave in it, and their stores, in order."""

    unbound: frozenset[str] = frozenset()
    stores: tuple[Store, ...] = ()

    def iteration(self, array: str, index: Sequence[int]) -> str:
        """The iterations that may have stored this element, as a phrase; empty if none is known."""
        found = [
            f"iteration {store.index} = {index[store.axes[0]]} of {store}"
            for store in self.stores
            if store.array == array and store.axes[0] < len(index)
        ]
        return " or ".join(dict.fromkeys(found))


def read_kernels(generated: str) -> Kernels:
    """The loops of a generated module."""
    tree = ast.parse(generated)
    loops = {found["kernel"]: (int(found["line"]), found["scope"]) for found in _LOOP.finditer(generated)}
    kernels = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name in loops]
    of_module = {node.name for node in kernels if loops[node.name][1] == _MODULE}
    bound = {name for node in kernels if node.name in of_module for name in _bound(node)}
    left = {name for node in ast.walk(tree) if _assigns_result_of(node, of_module) for name in _bound(node)}
    stores = (store for node in kernels for store in _stores(node, loops[node.name][0]))
    carried = {name for node in kernels if node.name in of_module for name in _carried(node)}
    return Kernels(frozenset(bound - left - carried), tuple(stores))


def _bound(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id
        elif isinstance(each, ast.ExceptHandler) and each.name:
            yield each.name


def _id(node: ast.expr) -> str:
    return getattr(node, "id", "")


def _assigns_result_of(node: ast.AST, kernels: set[str]) -> bool:
    """Whether a statement assigns what a run of one of these loops leaves: all of it, or one name's value."""
    if not isinstance(node, ast.Assign):
        return False
    if isinstance(node.value, ast.Subscript) and isinstance(node.value.slice, ast.Constant):
        return any(node.value.slice.value == _id(target) for target in node.targets)
    if not isinstance(node.value, ast.Call):
        return False
    arguments = node.value.args
    return bool(arguments) and isinstance(arguments[0], ast.Name) and arguments[0].id in kernels


def _stores(kernel: ast.FunctionDef, line: int) -> Iterator[Store]:
    """Stores to elements of arrays at the loop's own index."""
    for loop in _shared_loops(kernel):
        if not isinstance(loop.target, ast.Name):
            continue
        for node in ast.walk(loop):
            if (
                isinstance(node, ast.Subscript)
                and isinstance(node.ctx, ast.Store)
                and isinstance(node.value, ast.Name)
            ):
                subscripts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
                axes = tuple(k for k, each in enumerate(subscripts) if _is_name(each, loop.target.id))
                if axes:
                    yield Store(line, loop.target.id, node.value.id, axes)


def _shared_loops(kernel: ast.FunctionDef) -> Iterator[ast.For]:
    """The loops over a rank's share, `dlb.iterations()` or `dlb.pairs()`."""
    for node in ast.walk(kernel):
        if not (isinstance(node, ast.For) and isinstance(node.iter, ast.Call)):
            continue
        if getattr(node.iter.func, "attr", "") in ("iterations", "pairs"):
            yield node


def _carried(kernel: ast.FunctionDef) -> Iterator[str]:
    """Names that an iteration reads before it binds them: their values come from earlier iterations."""
    for loop in _shared_loops(kernel):
        first: dict[str, bool] = {}
        for statement in loop.body:
            for name, reads in _events(statement):
                first.setdefault(name, reads)
        yield from {name for name, reads in first.items() if reads} - set(_bound(loop.target))


def _events(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """Names in the order in which they are evaluated, and whether they are read; functions apart."""
    if isinstance(node, ast.Name):
        yield node.id, not isinstance(node.ctx, ast.Store)
    elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        yield node.target.id, True
        yield from _events(node.value)
    elif not isinstance(node, ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef):
        # What is bound stands in the fields `target`, `targets`; results of comprehensions in `elt`, `key`.
        late = sorted(node._fields, key=lambda field: field in ("target", "targets", "elt", "key", "body"))
        if isinstance(node, ast.For | ast.comprehension):
            late = ["iter", "target", *(field for field in late if field not in ("iter", "target"))]
        for field in late:
            children = getattr(node, field)
            for child in children if isinstance(children, list) else [children]:
                if isinstance(child, ast.AST):
                    yield from _events(child)


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
