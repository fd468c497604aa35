"""The body of a parallel loop: which statements it may have, its accesses, and where its scalars live.

A private scalar is a name that an iteration assigns to before it reads it, on every path; then its value in
one iteration does not depend on others, and each iteration may have its own copy (scalar expansion: Padua
and Wolfe,
*Advanced compiler optimizations for supercomputers*, 1986).
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator, Sequence

from dlbrt.records import dataclass

from dlbc.native.restructure.forms import Form, form
from dlbc.native.restructure.nest import WRITTEN, CannotRestructureError, Nest

_EXPRESSIONS = (ast.Constant, ast.Name, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp)
_MOST_LEVELS = 60


@dataclass(frozen=True)
class ElementAccess:
    """A load of an array's element, or a store to it; ``always`` if every run of the statements does it."""

    array: str
    subscripts: tuple[ast.expr, ...]
    is_store: bool
    always: bool

    @property
    def forms(self) -> tuple[Form, ...]:
        """The subscripts."""
        return tuple(map(form, self.subscripts))


def element(tree: ast.expr) -> tuple[str, tuple[ast.expr, ...]] | None:
    """The array and the subscripts of ``A[i, j]`` or ``A[i][j]``."""
    subscripts: tuple[ast.expr, ...] = ()
    while isinstance(tree, ast.Subscript):
        own = tuple(tree.slice.elts) if isinstance(tree.slice, ast.Tuple) else (tree.slice,)
        subscripts = own + subscripts
        tree = tree.value
    return (tree.id, subscripts) if isinstance(tree, ast.Name) and subscripts else None


class _AsWritten(ast.NodeTransformer):
    def visit(self, node: ast.AST) -> ast.AST:
        text = getattr(node, WRITTEN, None)
        return self.generic_visit(node) if text is None else ast.Name(text, ast.Load())


def text_of(tree: ast.AST) -> str:
    """The text of a tree as the program has it, for messages (see `WRITTEN`)."""
    return ast.unparse(_AsWritten().visit(copy.deepcopy(tree)))


def names(*trees: ast.AST) -> frozenset[str]:
    """All names that occur."""
    return frozenset(n.id for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Name))


def assigned(trees: Iterable[ast.AST]) -> frozenset[str]:
    """All names that are assigned to, targets of loops among them."""
    return frozenset(
        n.id
        for tree in trees
        for n in ast.walk(tree)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    )


def loop_targets(trees: Iterable[ast.AST]) -> frozenset[str]:
    """The targets of all loops."""
    loops = (n for tree in trees for n in ast.walk(tree) if isinstance(n, ast.For))
    return frozenset(loop.target.id for loop in loops if isinstance(loop.target, ast.Name))


def bounds(loop: ast.For) -> tuple[ast.expr, ast.expr, ast.expr]:
    """First, last and step of a loop over a range."""
    assert isinstance(loop.iter, ast.Call)
    arguments = loop.iter.args
    first = arguments[0] if len(arguments) > 1 else ast.Constant(0)
    last = arguments[1] if len(arguments) > 1 else arguments[0]
    return first, last, arguments[2] if len(arguments) > 2 else ast.Constant(1)


def target(loop: ast.For) -> str:
    """The name of a loop's variable."""
    assert isinstance(loop.target, ast.Name)
    return loop.target.id


def elements(tree: ast.AST, always: bool = True) -> Iterator[tuple[ast.Subscript, bool]]:
    """The outermost elements of arrays below a tree, then those in their subscripts, with ``always``."""
    if isinstance(tree, ast.Subscript):
        found = element(tree)
        if found is not None:
            yield tree, always
            for subscript in found[1]:
                yield from elements(subscript, always)
            return
    for child in ast.iter_child_nodes(tree):
        yield from elements(child, always and not _may_be_left_out(tree, child))


def _may_be_left_out(tree: ast.AST, child: ast.AST) -> bool:
    match tree:
        case ast.IfExp() | ast.If():
            return child is not tree.test
        case ast.BoolOp():
            return child is not tree.values[0]
        case ast.Compare():
            return child is not tree.left and child is not tree.comparators[0]
        case ast.For():
            return child is not tree.iter
    return False


def accesses(trees: Iterable[ast.AST]) -> list[ElementAccess]:
    """All accesses to elements of arrays."""
    found = []
    for tree in trees:
        updated = (n.target for n in ast.walk(tree) if isinstance(n, ast.AugAssign))
        places = (element(place) for place in updated if isinstance(place, ast.Subscript))
        found += [ElementAccess(*place, is_store=False, always=False) for place in places if place]
        for each, always in elements(tree):
            parts = element(each)
            assert parts is not None
            found.append(ElementAccess(*parts, is_store=isinstance(each.ctx, ast.Store), always=always))
    return found


def stored(trees: Iterable[ast.AST]) -> frozenset[str]:
    """The arrays with an element that is stored to."""
    return frozenset(each.array for each in accesses(trees) if each.is_store)


def reads_early(block: Sequence[ast.stmt], scalar: str) -> bool:
    """Whether a run of the statements may read the scalar before it assigns to it."""
    return _early(block, scalar)[0]


def _early(block: Sequence[ast.stmt], scalar: str) -> tuple[bool, bool]:
    """Whether the scalar may be read before it is assigned to, and whether it is surely assigned to."""
    for each in block:
        early, sure = _early_in(each, scalar)
        if early or sure:
            return early, sure
    return False, False


def _early_in(each: ast.stmt, scalar: str) -> tuple[bool, bool]:
    match each:
        case ast.For():
            if scalar in names(each.iter):
                return True, False
            if target(each) == scalar:
                return False, False
            return _early(each.body, scalar)[0], False
        case ast.If():
            one, other = _early(each.body, scalar), _early(each.orelse, scalar)
            return scalar in names(each.test) or one[0] or other[0], one[1] and other[1]
        case ast.Assign():
            return scalar in names(each.value) or scalar in _loaded(each.targets[0]), _is(
                each.targets[0], scalar
            )
        case ast.AugAssign():
            return scalar in names(each), False
        case ast.Pass():
            return False, False
    return scalar in names(each), False  # what is not understood may read all that it names


def _loaded(tree: ast.expr) -> frozenset[str]:
    return frozenset() if isinstance(tree, ast.Name) else names(tree)


def _is(tree: ast.expr, scalar: str) -> bool:
    return isinstance(tree, ast.Name) and tree.id == scalar


def check(nest: Nest) -> None:
    """Raise unless all statements are understood and all scalars are private."""
    if not isinstance(nest.loop.target, ast.Name) or nest.loop.orelse:
        raise CannotRestructureError("the parallel loop has several variables, or an else")
    over = nest.loop.iter
    if not isinstance(over, ast.Call) or not 1 <= len(over.args) <= 3 or over.keywords:
        raise CannotRestructureError("the parallel loop is not over a range")
    scope = frozenset((nest.loop.target.id, nest.first, nest.last, nest.step, *nest.numbers))
    scalars = assigned(nest.loop.body) - loop_targets(nest.loop.body)
    _check_block(nest, nest.loop.body, scope | scalars, 0)
    wrong = scalars & (scope | frozenset(nest.arrays))
    wrong |= loop_targets(nest.loop.body) & (scope | scalars | frozenset(nest.arrays))
    if wrong:
        raise CannotRestructureError(f"{min(wrong)} is assigned to in the body")
    _check_shapes(nest.loop.body)
    for scalar in sorted(scalars):
        if reads_early(nest.loop.body, scalar):
            raise CannotRestructureError(f"{scalar} may be read before the iteration assigns to it")


def _check_shapes(block: Sequence[ast.stmt]) -> None:
    shapes = {(each.array, len(each.subscripts)) for each in accesses(block)}
    if len(shapes) > len({array for array, _ in shapes}):
        raise CannotRestructureError("an array has elements with different numbers of subscripts")


def _occurs_outside(variable: str, block: Sequence[ast.AST]) -> bool:
    """Whether the variable of a loop occurs outside of the loops over it."""
    return any(
        (isinstance(each, ast.Name) and each.id == variable)
        or _occurs_outside(variable, [*ast.iter_child_nodes(each)])
        for each in block
        if not (isinstance(each, ast.For) and target(each) == variable and variable not in names(each.iter))
    )


def check_inner(nest: Nest, loop: ast.For, around: Iterable[str]) -> None:
    """Raise unless an inner loop is understood, and its scalars private to iterations of the parallel loop.

    ``around`` are the variables of the loops around it.
    """
    assert isinstance(nest.loop.target, ast.Name)
    own = frozenset((nest.loop.target.id, nest.first, nest.last, nest.step, *nest.numbers))
    scalars = assigned(nest.loop.body) - loop_targets(nest.loop.body)
    _check_statement(nest, loop, own | scalars | frozenset(around), 0)
    if wrong := assigned([loop]) & (own | frozenset(nest.arrays)):
        raise CannotRestructureError(f"{min(wrong)} is assigned to in the body")
    _check_shapes(loop.body)
    if seen := [v for v in sorted(loop_targets([loop])) if _occurs_outside(v, nest.loop.body)]:
        raise CannotRestructureError(f"{seen[0]} is used after its loop")
    for scalar in sorted(assigned([loop]) - loop_targets([loop])):
        if reads_early(nest.loop.body, scalar):
            raise CannotRestructureError(f"{scalar} may be read before the iteration assigns to it")


def _check_block(nest: Nest, block: Sequence[ast.stmt], scope: frozenset[str], level: int) -> None:
    if level > _MOST_LEVELS:
        raise CannotRestructureError("the body is nested too deeply")
    for each in block:
        _check_statement(nest, each, scope, level)


def _check_statement(nest: Nest, each: ast.stmt, scope: frozenset[str], level: int) -> None:
    match each:
        case ast.Assign(targets=[ast.Name() | ast.Subscript() as place], value=value):
            _check_place(nest, place, scope)
            _check_expression(nest, value, scope)
        case ast.AugAssign(target=ast.Name() | ast.Subscript() as place, value=value):
            _check_place(nest, place, scope)
            _check_expression(nest, value, scope)
        case ast.If():
            _check_expression(nest, each.test, scope)
            _check_block(nest, each.body, scope, level + 1)
            _check_block(nest, each.orelse, scope, level + 1)
        case ast.For(target=ast.Name(id=variable), orelse=[], iter=ast.Call(func=ast.Name("range")) as over):
            if not 1 <= len(over.args) <= 3 or over.keywords or variable in scope:
                raise CannotRestructureError(f"the loop over {variable} is not understood")
            for bound in over.args:
                _check_expression(nest, bound, scope)
            _check_block(nest, each.body, scope | {variable}, level + 1)
        case ast.Pass():
            pass
        case _:
            raise CannotRestructureError(f"`{text_of(each).splitlines()[0]}` is not understood")


def _check_place(nest: Nest, place: ast.expr, scope: frozenset[str]) -> None:
    if isinstance(place, ast.Subscript):
        _check_expression(nest, place, scope)


def _check_expression(nest: Nest, tree: ast.expr, scope: frozenset[str], level: int = 0) -> None:
    if level > _MOST_LEVELS:
        raise CannotRestructureError("an expression is nested too deeply")
    children: Iterable[ast.expr]
    match tree:
        case ast.Subscript():
            found = element(tree)
            if found is None or found[0] not in nest.arrays:
                raise CannotRestructureError(f"`{text_of(tree)}` is not an element of an array")
            children = found[1]
        case ast.Call(keywords=[]) if ast.unparse(tree.func) in nest.pure_calls:
            children = tree.args
        case ast.Name(id=used) if used not in scope:
            raise CannotRestructureError(f"{used} has no known value here")
        case _ if isinstance(tree, _EXPRESSIONS):
            children = (child for child in ast.iter_child_nodes(tree) if isinstance(child, ast.expr))
        case _:
            raise CannotRestructureError(f"`{text_of(tree)}` is not understood")
    for child in children:
        _check_expression(nest, child, scope, level + 1)
