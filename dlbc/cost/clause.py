"""The expression of a `cost` clause: its side effects, whether it takes a vector, and the work it describes.

The program never evaluates the expression itself, so it must not print, store or draw: the program would
continue differently than without the clause. The summaries of the module's functions and the tables of known
calls reveal side effects; functions of other modules in no table are assumed to have none. The expression
takes a vector of index values only if every operation on the index works element by element, or fails for a
vector (``max(i, 3)``), in which case the runtime evaluates it value by value. An operation that would give
something else of the same shape (``np.sort(i)``, ``M[i][0]``) does not take a vector.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Iterator
from fractions import Fraction
from math import isfinite

from dlbc.algebra.integer_form import IntegerForm
from dlbc.algebra.work import ONE_WORK, WorkPolynomial
from dlbc.analysis import effects
from dlbc.analysis.callees import callees, mentioned_functions, mutated_arguments
from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.effects import FunctionSummary, SideEffect
from dlbc.analysis.names import full_name
from dlbc.analysis.uses import children_of, every_node, root_name, uses_of
from dlbc.analysis.walk_code import walk_code
from dlbc.cost.evaluate import evaluate
from dlbc.cost.evaluate_expressions import Names
from dlbc.cost.functions import BUILTINS
from dlbc.cost.limits import Budget, TooLargeError
from dlbc.ir.access import MutationKind, OriginKind, Origins, RegionFacts
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.region import CodeRegion, ModuleNames
from dlbc.library.methods import METADATA
from dlbc.library.row import EffectKind
from dlbc.library.table import lookup

#: The highest power that is written out as a polynomial.
_MOST_FACTORS = 8

#: No more products of terms are formed.
_MOST_PRODUCTS = 10_000

#: The steps in which a part without names is evaluated.
_PART_STEPS = 3_000_000

_OUTSIDE = {
    EffectKind.FILE: "writes to a file",
    EffectKind.INPUT: "reads standard input",
    EffectKind.RANDOM: "draws from a random generator",
    EffectKind.OBJECT: "changes an object of a module",
}
_PRINTS = "writes to standard output"
_BY_CONSTRUCT = {MutationKind.DELETE: "`del`", MutationKind.AUGMENTED: "an augmented assignment"}


def effects_of(node: ast.expr, context: AnalysisContext) -> Iterator[str]:
    """The side effects of evaluating ``node`` at the loop, each as a clause: "`print` writes to ..."."""
    module, summaries = context.module, context.summaries
    body: list[ast.stmt] = [ast.copy_location(ast.Expr(node), node)]
    own: frozenset[str] = frozenset()  # the loop's targets hold items that the program has as well
    new, parts = summaries.fresh, summaries.returns_argument_parts
    region = CodeRegion(tuple(body), own, module, fresh=new, returns_argument_parts=parts)
    facts = walk_code(region)
    yield from _own(facts, context)
    roots: set[ast.AST] = {f for call in facts.calls for f, _ in callees(call, module)}
    roots |= mentioned_functions(body, module)
    for function in summaries.reachable(frozenset(roots & summaries.of.keys())):
        yield from _of_function(summaries.of[function], context.loop)


def _own(facts: RegionFacts, context: AnalysisContext) -> Iterator[str]:
    """What the expression does itself, and what its calls do to objects passed to them."""
    for change in facts.mutations:
        for name in _shared(change.origins):
            yield f"{_BY_CONSTRUCT.get(change.kind) or _quoted(change.detail)} changes `{name}`"
    for call in facts.calls:
        if effects.writes_output(call):
            yield f"{_quoted(ast.unparse(call.node.func))} {_PRINTS}"
        for side_effect in effects.direct_side_effects(call):
            yield from _of_side_effect(side_effect)
        for function, value, _ in mutated_arguments(call, context.module, context.summaries.of):
            for name in _shared(value.points_to | value.reachable):
                yield f"`{function.name}` changes `{name}`"


def _of_side_effect(side_effect: SideEffect) -> Iterator[str]:
    if side_effect.effect in effects.EXTERNAL_EFFECTS:
        yield f"`{side_effect.function}` {_OUTSIDE[side_effect.effect]}"
        return
    does = "draws from" if side_effect.effect is EffectKind.DRAW else "changes"
    yield from (f"`{side_effect.function}` {does} `{name}`" for name in _shared(side_effect.origins))


def _of_function(function: FunctionSummary, loop: AnnotatedLoop) -> Iterator[str]:
    """What a function of the module does to other objects than its own and its arguments."""
    if function.prints:
        yield f"`{function.name}` {_PRINTS}"
    for side_effect in function.side_effects:
        if side_effect.effect in effects.EXTERNAL_EFFECTS:
            yield f"`{function.name}` calls `{side_effect.function}`, which {_OUTSIDE[side_effect.effect]}"
    for name in sorted({*function.rebinds, *function.mutated_shared} - {effects.NOT_ITS_OWN}):
        owner = function.owners.get(name)
        if not function.called_by_name_only or owner is None or owner in loop.path:
            yield f"`{function.name}` changes `{name}`"


def _shared(origins: Origins) -> list[str]:
    """The names from outside among the origins; an object of unknown origin may be a new one."""
    return sorted({o.name for o in origins if o.kind in (OriginKind.SHARED, OriginKind.ELEMENT) and o.name})


def _quoted(name: str) -> str:
    return f"`{name}`"


def takes_vector(node: ast.expr, index: str, module: ModuleNames) -> bool:
    """Whether the expression gives, for a vector of index values, the vector of its values, or fails."""
    return _takes_vector(node, _holding(node, lambda name: name == index), module)


def _holding(node: ast.expr, wanted: Callable[[str], bool]) -> set[int]:
    """The nodes below, by their identities, that read a name which is ``wanted``, or hold one that does."""
    found = {id(use.node) for use in uses_of(node) if wanted(use.name)}
    for each in reversed(every_node(node)):  # children come before their parents
        if any(id(child) in found for child in children_of(each)):
            found.add(id(each))
    return found


def _takes_vector(node: ast.expr, varying: Container[int], module: ModuleNames) -> bool:
    if id(node) not in varying:
        return True
    match node:
        case ast.Name():
            return True
        case ast.Subscript(value=array, slice=inside):
            parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            plain = not any(isinstance(part, ast.Slice | ast.Starred) for part in parts)
            operands = [*parts] if plain and id(array) not in varying else []
        case ast.Call(func=function, args=args, keywords=[]) if _elementwise(function, module):
            operands = [] if any(isinstance(a, ast.Starred) for a in args) else args
        case ast.BinOp(op=op, left=left, right=right):
            operands = [] if isinstance(op, ast.MatMult) else [left, right]
        case ast.UnaryOp() | ast.Compare() | ast.BoolOp() | ast.IfExp():
            operands = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
        case _:
            operands = []
    return bool(operands) and all(_takes_vector(operand, varying, module) for operand in operands)


def _elementwise(function: ast.expr, module: ModuleNames) -> bool:
    name = full_name(function, module)
    return lookup(name).elementwise or name.startswith("math.")


def work_of(node: ast.expr, form: Callable[[ast.expr], IntegerForm | None]) -> WorkPolynomial | None:
    """The expression as work, if it is a polynomial of parts that ``form`` reads as integers."""
    match node:
        case ast.Constant(value=value):
            known = type(value) is int or (type(value) is float and isfinite(value))
            return WorkPolynomial.literal(Fraction(value)) if known else None  # type: ignore[arg-type]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            inner = work_of(operand, form)
            return inner if inner is None or isinstance(sign, ast.UAdd) else -inner
        case ast.BinOp(
            left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.Pow() as op, right=right
        ):
            return _combined(op, work_of(left, form), work_of(right, form))
    integer = form(node)
    return None if integer is None else WorkPolynomial.from_form(integer)


def _combined(
    op: ast.operator, left: WorkPolynomial | None, right: WorkPolynomial | None
) -> WorkPolynomial | None:
    if left is None or right is None or len(left.terms) * len(right.terms) > _MOST_PRODUCTS:
        return None
    work = _operated(op, left, right)
    return None if work is None or work.is_large else work


def _operated(op: ast.operator, left: WorkPolynomial, right: WorkPolynomial) -> WorkPolynomial | None:
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left * (1 / Fraction(right.constant)) if right.constant else None
    power = right.constant
    small = isinstance(power, int) and 0 <= power <= _MOST_FACTORS
    result: WorkPolynomial | None = ONE_WORK
    for _ in range(int(power or 0) if small else 0):
        result = _combined(ast.Mult(), result, left)
    return result if small else None


def valueless_parts(node: ast.expr, module: ModuleNames) -> Iterator[tuple[str, str]]:
    """The largest parts of an expression that read no name, but have no value; and why.

    The program would compute them before the loop: it would fail, or not come back.
    """
    reading = _holding(node, lambda name: not (name in BUILTINS and module.builtin(name)))
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if id(part) in reading or isinstance(part, ast.Constant):
            waiting += [child for child in reversed(children_of(part)) if isinstance(child, ast.expr)]
            continue
        try:
            evaluate(part, Names(), Budget(_PART_STEPS))
        except (TooLargeError, ArithmeticError) as error:
            yield ast.unparse(part), str(error)
        except Exception:  # it has a value that only the program can compute
            continue


def contents_read(node: ast.AST, module: ModuleNames) -> Iterator[str]:
    """Names and dotted names whose contents an expression reads, not only ``len(A)`` or ``A.shape``."""
    waiting = [node]
    while waiting:
        match part := waiting.pop():
            case ast.Call(func=ast.Name(id="len"), args=[array]) if root_name(array) and module.builtin(
                "len"
            ):
                pass
            case ast.Attribute(attr=attribute) if root_name(part):
                if attribute not in METADATA:
                    yield ast.unparse(part)
            case ast.Name(id=name):
                yield name
            case _:
                waiting += reversed(children_of(part))
