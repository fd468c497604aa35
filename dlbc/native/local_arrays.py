"""Arrays that an iteration makes for itself: ``half = np.zeros((n, n))``.

Nothing of an iteration outlives it but what it stores elsewhere, so that such an array may be one buffer of
the chunk, filled anew where the program makes it, if two conditions hold. No two of them live at once: the
name is bound in one place, and occurs in the block of that place alone, after it. And nothing else leads to
it: the name occurs in subscripts, as ``len(half)`` and ``half.shape`` alone; every other use of it is
refused where it is lowered.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from dlbrt.records import dataclass

from dlbc.native.facts import array_of, literal_of, subscripts_of
from dlbc.native.scalars import NUMPY, Kind, Scalar

#: numpy's functions that make arrays, and what they fill them with; `full` has an argument for it.
_FILLED = {"empty": None, "zeros": 0, "ones": 1, "full": None}
_FLOAT, _INTEGER, _TRUTH = "float64", "int64", "bool_"
#: The types of elements that compiled code has, as they are written.
_TYPES = {
    "float": _FLOAT,
    "numpy.float64": _FLOAT,
    "numpy.double": _FLOAT,
    "'float64'": _FLOAT,
    "'float'": _FLOAT,
    "'d'": _FLOAT,
    "int": _INTEGER,
    "numpy.int64": _INTEGER,
    "'int64'": _INTEGER,
    "'int'": _INTEGER,
    "bool": _TRUTH,
    "numpy.bool_": _TRUTH,
    "numpy.bool": _TRUTH,
    "'bool'": _TRUTH,
}
_KINDS = {_FLOAT: Kind.INEXACT, _INTEGER: Kind.INTEGER, _TRUTH: Kind.TRUTH}
_MOST_AXES = 4


@dataclass(frozen=True)
class Allocation:
    """A call that makes an array.

    ``lengths`` of its axes, or the array ``like`` whose it has. ``kind`` of its elements, one of numpy's;
    None if it is that of ``like``, or of ``value``. ``fill``: the literal that all elements are, ``value``:
    an expression that gives it; neither for `empty`.
    """

    lengths: tuple[ast.expr, ...]
    like: ast.expr | None
    kind: str | None
    fill: int | None
    value: ast.expr | None


@dataclass(frozen=True)
class LocalArray:
    """An array that iterations make.

    ``axes``: how many subscripts it has. ``is_scoped``: it is made in one place, and used only after it, in
    the block of that place. Then one buffer for the whole chunk does, if its lengths are always the same.
    """

    axes: int
    is_scoped: bool


def allocation_of(
    node: ast.expr, imported: Callable[[str], str], builtin: Callable[[str], bool]
) -> Allocation | None:
    """What a call makes; None if it is no call that makes an array in a way that is known."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
        return None
    module, _, function = imported(ast.unparse(node.func)).rpartition(".")
    stem = function.removesuffix("_like")
    if module != "numpy" or stem not in _FILLED:
        return None
    is_like = stem != function
    names = ["a" if is_like else "shape", *(["fill_value"] if stem == "full" else []), "dtype"]
    given = _arguments(node, names)
    if given is None:
        return None
    kind = _type_of(given.get("dtype"), imported, builtin)
    if kind is None and "dtype" in given:
        return None
    whole, value = given[names[0]], given.get("fill_value")
    if not is_like and stem != "full":
        kind = kind or _FLOAT
    if is_like or (isinstance(whole, ast.Attribute) and whole.attr == "shape"):
        like = whole.value if isinstance(whole, ast.Attribute) and not is_like else whole
        return Allocation((), like, kind or _type_of_literal(value, is_like), _FILLED[stem], value)
    lengths = tuple(whole.elts) if isinstance(whole, ast.Tuple | ast.List) else (whole,)
    if not 1 <= len(lengths) <= _MOST_AXES:
        return None
    return Allocation(lengths, None, kind or _type_of_literal(value, False), _FILLED[stem], value)


def _arguments(call: ast.Call, names: Sequence[str]) -> dict[str, ast.expr] | None:
    """The arguments by name; None if there are others, or too few."""
    given = dict(zip(names, call.args, strict=False))
    keywords = {each.arg: each.value for each in call.keywords if each.arg is not None and each.arg in names}
    if len(call.args) > len(names) or len(keywords) < len(call.keywords) or given.keys() & keywords.keys():
        return None
    found = {**given, **keywords}
    if any(isinstance(each, ast.Starred) for each in call.args) or not found.keys() >= set(names[:-1]):
        return None
    return found


def _type_of(
    node: ast.expr | None, imported: Callable[[str], str], builtin: Callable[[str], bool]
) -> str | None:
    if node is None:
        return None
    text = ast.unparse(node)
    full = imported(text) if isinstance(node, ast.Name | ast.Attribute) else ""
    if isinstance(node, ast.Name) and not full and not builtin(text):
        return None
    return _TYPES.get(full or text)


def _type_of_literal(node: ast.expr | None, is_like: bool) -> str | None:
    """The type of an array that is filled with a literal."""
    if is_like or node is None:
        return None
    kinds = {float: _FLOAT, int: _INTEGER, bool: _TRUTH}
    return kinds.get(type(literal_of(node)))


def element_of(kind: str) -> Scalar:
    """What is known of an element."""
    return Scalar(_KINDS[kind], frozenset({NUMPY}), element=True)


def find_local_arrays(
    body: Sequence[ast.stmt], is_allocation: Callable[[ast.expr], Allocation | None]
) -> dict[str, LocalArray]:
    """The arrays that statements make, by name: names that are bound to nothing else."""
    nodes = [node for statement in body for node in ast.walk(statement)]
    occurring = Counter(n.id for n in nodes if isinstance(n, ast.Name))
    bound = Counter(n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))
    places = dict(_places(body, is_allocation))
    found = {}
    for name, sites in places.items():
        axes = {
            len(subscripts_of(n)) for n in nodes if isinstance(n, ast.Subscript) and _is(array_of(n), name)
        }
        axes |= {len(made.lengths) for _, _, made in sites if made.lengths}
        if bound[name] == len(sites) and axes:
            block, number, _ = sites[0]
            within = sum(_is(n, name) for s in block[number:] for n in ast.walk(s))
            found[name] = LocalArray(max(axes), len(sites) == 1 and within == occurring[name])
    return found


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _places(
    body: Sequence[ast.stmt], is_allocation: Callable[[ast.expr], Allocation | None]
) -> Iterator[tuple[str, list[tuple[Sequence[ast.stmt], int, Allocation]]]]:
    """The statements that make arrays, by the arrays' names, with the blocks in which they stand."""
    found: dict[str, list[tuple[Sequence[ast.stmt], int, Allocation]]] = {}
    for block in _blocks(body):
        for number, statement in enumerate(block):
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    made = is_allocation(value)
                    if made is not None:
                        found.setdefault(name, []).append((block, number, made))
    yield from found.items()


def _blocks(body: Sequence[ast.stmt]) -> Iterator[Sequence[ast.stmt]]:
    """A block and all blocks in it."""
    yield body
    for statement in body:
        for inner in ("body", "orelse"):
            if isinstance(getattr(statement, inner, None), list):
                yield from _blocks(getattr(statement, inner))
