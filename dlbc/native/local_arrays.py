"""Arrays and lists of numbers that an iteration makes for itself: ``half = np.zeros((n, n))``, ``[0.0] * n``.

Nothing of an iteration outlives it but what it stores elsewhere, so that such an array may be one buffer of
the chunk, filled anew where the program makes it, if two conditions hold. No two of them live at once: the
name is bound in one place, and occurs in the block of that place alone, after it. And nothing else leads to
it: the name occurs in subscripts, as ``len(half)`` and ``half.shape`` alone; every other use of it is
refused where it is lowered.

Lists of numbers of one type are arrays in compiled code. Their elements are numbers of Python, or whatever
was stored to them; a list that would have elements of several types is refused where one is stored.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import replace

from dlbrt.records import dataclass

from dlbc.native.facts import NotCompilableError, array_of, literal_of, subscripts_of
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
    an expression that gives it; neither for `empty`. Lists may have ``items`` that stand in the text, or be
    ``counted``: 0, 1, 2, ...
    """

    lengths: tuple[ast.expr, ...]
    like: ast.expr | None = None
    kind: str | None = None
    fill: int | None = None
    value: ast.expr | None = None
    is_list: bool = False
    items: tuple[ast.expr, ...] = ()
    is_counted: bool = False


@dataclass(frozen=True)
class LocalArray:
    """An array that iterations make.

    ``axes``: how many subscripts it has. ``is_scoped``: it is made in one place, and used only after it, in
    the block of that place. Then one buffer for the whole chunk does, if its lengths are always the same.
    """

    axes: int
    is_scoped: bool
    is_list: bool = False


def allocation_of(
    node: ast.expr, imported: Callable[[str], str], builtin: Callable[[str], bool]
) -> Allocation | None:
    """What an expression makes; None if it makes no array or list in a way that is known."""
    if (made := _list_of(node, builtin)) is not None:
        return made
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


def _list_of(node: ast.expr, builtin: Callable[[str], bool]) -> Allocation | None:
    """The list that an expression makes: of numbers, or of lists of one length, which are its rows."""
    match node:
        case (
            ast.BinOp(left=ast.List(elts=[item]), op=ast.Mult(), right=length)
            | ast.BinOp(left=length, op=ast.Mult(), right=ast.List(elts=[item]))
        ):
            return _repeated(item, length)
        case ast.ListComp(
            elt=item,
            generators=[
                ast.comprehension(
                    target=ast.Name(id=count),
                    iter=ast.Call(func=ast.Name(id="range"), args=[length], keywords=[]),
                    ifs=[],
                    is_async=0,
                )
            ],
        ) if builtin("range") and all(not _is(n, count) for n in ast.walk(item)):
            row = _list_of(item, builtin)
            if row is not None:
                plain = not row.items and not row.is_counted and len(row.lengths) == 1
                return replace(row, lengths=(length, *row.lengths)) if plain else None
            simple = all(
                isinstance(n, ast.Constant | ast.Name | ast.Attribute | ast.UnaryOp | ast.unaryop | ast.Load)
                for n in ast.walk(item)
            )
            return _repeated(item, length) if simple else None
        case ast.List(elts=[_, *_] as items) if not any(isinstance(i, _NO_NUMBERS) for i in items):
            return Allocation((ast.Constant(len(items)),), is_list=True, items=tuple(items))
        case ast.Call(
            func=ast.Name(id="list"),
            args=[ast.Call(func=ast.Name(id="range"), args=[length], keywords=[])],
            keywords=[],
        ) if builtin("list") and builtin("range"):
            return Allocation((length,), kind=_INTEGER, is_list=True, is_counted=True)
    return None


#: What surely is no number.
_NO_NUMBERS = (ast.List, ast.ListComp, ast.Tuple, ast.Starred, ast.Dict, ast.Set, ast.JoinedStr, ast.Lambda)


def _repeated(item: ast.expr, length: ast.expr) -> Allocation | None:
    kind = _type_of_literal(item, False)
    if isinstance(item, _NO_NUMBERS) or (kind is None and isinstance(item, ast.Constant)):
        return None
    return Allocation((length,), kind=kind, value=item, is_list=True)


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


def element_key(name: str) -> str:
    """What stands for the elements of a list among the numbers of a body."""
    return f"{name}[]"


def check_lists(
    body: Sequence[ast.stmt],
    is_allocation: Callable[[ast.expr], Allocation | None],
    given: Set[str] = frozenset(),
) -> None:
    """Raise NotCompilableError where statements look up attributes of lists that they make, or are ``given``.

    This is for statements as the program has them: later, lengths of arrays are looked up as attributes.
    """
    lists = {
        name for name, sites in _places(body, is_allocation) if any(made.is_list for _, _, made in sites)
    }
    for node in (n for statement in body for n in ast.walk(statement)):
        match node:
            case ast.Attribute(value=ast.Name(id=name)) if name in lists | given:
                raise NotCompilableError(f"`{ast.unparse(node)}` of a list cannot be compiled", node)


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
        lists = {made.is_list for _, _, made in sites}
        if bound[name] == len(sites) and axes and len(lists) == 1:
            block, number, _ = sites[0]
            within = sum(_is(n, name) for s in block[number:] for n in ast.walk(s))
            is_scoped = len(sites) == 1 and within == occurring[name]
            found[name] = LocalArray(max(axes), is_scoped, True in lists)
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
