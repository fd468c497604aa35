"""What an annotated loop runs over: a range, or sequences of which compiled iterations take elements.

Iterations over sequences are counted by their positions, or by the loop's own counter where `enumerate` has
one, and begin by taking their elements: for ``for i, x in enumerate(xs)`` by ``x = xs[i]``.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Container, Iterator, Sequence

from dlbrt.records import dataclass

from dlbc.analysis.uses import bound_names
from dlbc.ir.plan import LoopPlan
from dlbc.ir.region import ModuleNames
from dlbc.native.facts import NotCompilableError, literal_of


class _WithItems(ast.NodeTransformer):
    """Puts the targets of a loop in the place of the elements that they are."""

    def __init__(self, begin: Sequence[ast.stmt], rebound: Container[str]) -> None:
        self._targets = {
            ast.unparse(each.value): each.targets[0].id
            for each in begin
            if isinstance(each, ast.Assign)
            and isinstance(each.targets[0], ast.Name)
            and isinstance(each.value, ast.Subscript)
            and each.targets[0].id not in rebound
        }
        self.any = False

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        target = self._targets.get(ast.unparse(node))
        if target is not None and isinstance(node.ctx, ast.Load):
            self.any = True
            return ast.copy_location(ast.Name(target, ast.Load()), node)
        self.generic_visit(node)
        return node


@dataclass(frozen=True)
class Iterated:
    """``index`` is the variable of the chunk function's loop; ``begin``: the statements that give the loop's
    other targets their values; ``sequences``: parameters that hold what the loop runs over, each with its
    number among those of `zip`, None where there is no `zip`. ``start``: the value of the index at their
    first element. ``counter`` is the loop's own counter, empty if it has none that iterations keep.
    ``texts``: the parameters with what the loop runs over, as the program has it.
    """

    index: str
    begin: tuple[ast.stmt, ...] = ()
    sequences: tuple[tuple[str, int | None], ...] = ()
    start: int = 0
    counter: str = ""
    texts: tuple[tuple[str, str], ...] = ()

    def with_items(
        self, effects: Sequence[ast.stmt], known: Container[str], rebound: Container[str]
    ) -> tuple[list[ast.stmt], bool]:
        """What Python does after an iteration, with items in place of the elements that they are.

        Also whether there are any. ``known`` are names that Python has there, ``rebound`` targets that the
        body binds anew. NotCompilableError where an element has no name.
        """
        replaced = _WithItems(self.begin, rebound)
        found = [replaced.visit(copy.deepcopy(each)) for each in effects]
        own = {name for name, _ in self.sequences if name not in known}
        for node in (n for each in found for n in ast.walk(each)):
            counts = self.sequences and isinstance(node, ast.Name) and node.id == self.index != self.counter
            if isinstance(node, ast.Name) and (node.id in own or counts):
                raise NotCompilableError("Python would need parts of items that have no name", self.begin[0])
        return found, replaced.any


def iterated(
    plan: LoopPlan,
    module: ModuleNames,
    given: Container[str],
    fresh: Callable[[str], str],
    *,
    in_range: bool,
) -> Iterated:
    """What the loop runs over; NotCompilableError if that is neither a range nor sequences by themselves.

    ``in_range``: its counter takes the values of a `range`. ``given``: the texts of what the loop is given;
    ``fresh`` gives names that nothing else has.
    """
    loop = plan.loop.node
    if in_range:
        if plan.space.index is None or not isinstance(loop.target, ast.Name):
            raise NotCompilableError("the loop's counter is bound anew by its body", loop.iter)
        return Iterated(plan.space.index)
    if len(bound_names([loop.target])) != sum(isinstance(n, ast.Name) for n in ast.walk(loop.target)):
        raise NotCompilableError("the loop has one name for several items", loop.target)
    count, start, target, iterable = _counted(loop.target, loop.iter, module)
    index = plan.space.index or fresh("position")
    begin: list[ast.stmt] = []
    if count is not None and count.id != index:
        begin.append(ast.Assign([count], ast.Name(index, ast.Load())))
    position: ast.expr = ast.Name(index, ast.Load())
    if start:
        position = ast.BinOp(position, ast.Sub() if start > 0 else ast.Add(), ast.Constant(abs(start)))
    sequences: list[tuple[str, int | None]] = []
    texts: list[tuple[str, str]] = []
    for number, each, sequence in _sequences(target, iterable, module):
        held: ast.expr = sequence
        if ast.unparse(sequence) not in given:
            held = ast.Name(fresh(_stem(sequence)), ast.Load())
            sequences.append((held.id, number))
            texts.append((held.id, ast.unparse(sequence)))
        begin.append(ast.Assign([each], ast.Subscript(copy.deepcopy(held), position, ast.Load())))
    for statement in begin:
        ast.fix_missing_locations(ast.copy_location(statement, loop.iter))
    found = index, tuple(copy.deepcopy(begin)), tuple(sequences), start, plan.space.index or "", tuple(texts)
    return Iterated(*found)


def _counted(
    target: ast.expr, iterable: ast.expr, module: ModuleNames
) -> tuple[ast.Name | None, int, ast.expr, ast.expr]:
    """The counter of `enumerate` and what it starts from; the target and iterable that it counts."""
    match target, _without_bar(iterable, module):
        case ast.Tuple(elts=[ast.Name() as count, each]), ast.Call(
            func=ast.Name(id="enumerate"), args=[inner, *starts], keywords=keywords
        ) if module.builtin("enumerate"):
            starts += [keyword.value for keyword in keywords]
            start = literal_of(starts[0]) if starts else 0
            if type(start) is not int:
                raise NotCompilableError("`enumerate` starts from what is no number in the text", iterable)
            return count, start, each, inner
    return None, 0, target, iterable


def _sequences(
    target: ast.expr, iterable: ast.expr, module: ModuleNames
) -> Iterator[tuple[int | None, ast.expr, ast.expr]]:
    """Each sequence with its number among those of `zip`, and the target that takes its elements."""
    match target, _without_bar(iterable, module):
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=found, keywords=[]) if (
            module.builtin("zip") and len(targets) == len(found)
        ):
            for number, (each, sequence) in enumerate(zip(targets, found, strict=True)):
                yield number, each, _sequence(each, sequence, module)
        case _:
            yield None, target, _sequence(target, iterable, module)


def _sequence(target: ast.expr, iterable: ast.expr, module: ModuleNames) -> ast.expr:
    """The one sequence whose elements a target takes; NotCompilableError if there is none."""
    sequence = _without_bar(iterable, module)
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    if not all(isinstance(part, ast.Name) for part in parts):
        raise NotCompilableError("an item is taken apart at several levels", target)
    match sequence:
        case ast.Call(func=ast.Name(id="zip" | "enumerate" | "reversed" | "range" as name)):
            if module.builtin(name):
                raise NotCompilableError(f"the loop runs over items of `{name}` in another form", sequence)
        case ast.Starred():
            raise NotCompilableError("the loop runs over sequences of any number", sequence)
    return sequence


def _without_bar(iterable: ast.expr, module: ModuleNames) -> ast.expr:
    """What a progress bar stands around."""
    while (
        isinstance(iterable, ast.Call)
        and (module.imported_name(ast.unparse(iterable.func)) or "").startswith("tqdm.")
        and iterable.args
    ):
        iterable = iterable.args[0]
    return iterable


def _stem(sequence: ast.expr) -> str:
    """A name for a sequence, that the reader knows it by."""
    match sequence:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return "items"
