"""What lowering a body needs to know, what it finds, and why a body is left to Python."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import TypeVar

from dlbrt.records import dataclass

from dlbc.ir.chunk import RUNTIME, Column
from dlbc.native.restructure.nest import WRITTEN
from dlbc.native.scalars import Kind

T = TypeVar("T", bound=ast.expr)

#: Constants of modules that compiled code knows.
CONSTANTS = frozenset(
    {"math.pi", "math.e", "math.tau", "math.inf", "math.nan", "numpy.pi", "numpy.e", "numpy.inf", "numpy.nan"}
)


class NotCompilableError(Exception):
    """Why a body is left to Python, and the node because of which."""

    def __init__(self, reason: str, node: ast.AST) -> None:
        super().__init__(reason)
        self.node = node


class OperandLeftError(Exception):
    """An operand of what Python does afterwards is left to Python too: the body is lowered anew."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


@dataclass(frozen=True)
class ChunkNames:
    """The chunk function's own parameters, and those of its condition: the least and greatest index.

    ``mark`` ends the names that are derived from others, so that they differ from those of the program.
    """

    first: str
    last: str
    step: str
    results: str
    low: str
    high: str
    mark: str = ""

    def before(self, array: str) -> str:
        """The name of an array's row as it was before the iteration."""
        return f"{array}_before{self.mark}"

    def share(self, name: str) -> str:
        """The name of an iteration's share of a value."""
        return f"{name}_share{self.mark}"

    def updated(self, name: str) -> str:
        """The name that tells whether there is such a share."""
        return f"{name}_updated{self.mark}"

    def origin(self, name: str) -> str:
        """The name of the set of arguments, as bits, that a number has been computed from."""
        return f"{name}_origin{self.mark}"

    def derived(self, names: Iterable[str]) -> Iterator[str]:
        """All names that are derived from some."""
        makers = (self.before, self.share, self.updated, self.origin)
        return (maker(name) for name in names for maker in makers)


@dataclass(frozen=True)
class BodyFacts:
    """What is known of the names in a body.

    ``parameters``: names, and texts of paths, that mean the same in all iterations, with the name that each
    has in the chunk function. ``rows``: the axis of each array whose stores are all to the row of the
    iteration's index. ``imported``: the full name of something imported. ``effects``: nodes that
    contribute, ``contributed``: the names to which they do. ``extremes``: those of them that are the
    greatest, or least, of what iterations find, with ``max``, ``min`` or the comparison that a new value has
    to win. ``shares``: names that an iteration may update several times, with the operator. ``functions``:
    those of the program by name; ``numbers``: literals to which names are bound for good, ``constants``:
    tuples of such. ``kept``: temporaries whose last value is kept, each set in every iteration. ``lists``:
    the kind of number that lists hold, where the text shows what they are made of.
    """

    index: str
    names: ChunkNames
    parameters: Mapping[str, str]
    rows: Mapping[str, int]
    imported: Callable[[str], str]
    builtin: Callable[[str], bool]
    effects: frozenset[ast.AST] = frozenset()
    contributed: frozenset[str] = frozenset()
    extremes: Mapping[str, str] = field(default_factory=dict)
    shares: Mapping[str, str] = field(default_factory=dict)
    functions: Callable[[str], ast.FunctionDef | None] = lambda _: None
    numbers: Callable[[str], ast.expr | None] = lambda _: None
    constants: Callable[[str], ast.expr | None] = lambda _: None
    kept: tuple[str, ...] = ()
    lists: Mapping[str, Kind] = field(default_factory=dict)


@dataclass
class LoweredBody:
    """A body to compile.

    ``noted``: the columns that number notes, with the rows of these. ``conditions``: what must hold for
    ``low`` and ``high``, the least and greatest index of a chunk;
    ``wraps``: subscripts that are not checked count from the end. ``checks``: some iterations may be left
    to Python. ``saved``: arrays whose row is put back then, with their axes. ``restored``: those whose
    rows are put back where Python fails at an effect. ``bits``: the greatest size of integers. ``axes``:
    how many subscripts each array has. ``pure_calls``: functions called without a check. ``index_only``:
    arrays whose elements are subscripts alone. ``integers``: lists that must hold
    integers of Python. ``floats``: arrays that must hold floats. ``in_place``: an
    iteration that is done again would read what it has stored. ``shaped``: arguments that must be arrays
    of numpy, no lists, ``python`` those that must be numbers of Python, ``real`` no complex ones.
    ``prologue`` makes the buffers of a chunk, the arrays that ``made`` are.
    """

    statements: list[ast.stmt]
    effects: list[ast.stmt]
    columns: list[Column]
    note_rows: list[Column]
    noted: dict[int, tuple[int, ...]]
    conditions: list[str]
    wraps: bool
    checks: bool
    saved: dict[str, int]
    restored: dict[str, int]
    bits: int
    used: list[str]
    index_only: frozenset[str]
    integers: frozenset[str]
    floats: frozenset[str]
    shaped: frozenset[str]
    python: frozenset[str]
    real: frozenset[str]
    stored: frozenset[str]
    notes: list[str]
    in_place: bool
    axes: dict[str, int]
    pure_calls: frozenset[str]
    origins: list[str]
    prologue: list[ast.stmt]
    made: dict[str, Kind]


# Nodes


def helper(name: str, *arguments: ast.expr) -> ast.Call:
    """A call of one of the runtime's helper functions (`dlbrt.native.numerics`)."""
    function = ast.Attribute(
        ast.Attribute(ast.Name(RUNTIME, ast.Load()), "native", ast.Load()), name, ast.Load()
    )
    return ast.Call(function, list(arguments), [])


def standing_for(made: T, node: ast.AST) -> T:
    """``made``, with the text of the program that it stands for, which messages quote."""
    setattr(made, WRITTEN, shortened(node))
    return made


def row_text(array: str, axis: int, index: str) -> str:
    """The row of an array that belongs to the iteration."""
    return f"{array}[{', '.join([':'] * axis + [index])}]"


def literal_of(node: ast.expr) -> object:
    """The value of a literal number, with its sign; None for anything else."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
    return None


def table_of(node: ast.expr) -> list[list[ast.expr]] | None:
    """The columns of a tuple or list of literal numbers, or of tuples of such; None for anything else."""
    if not isinstance(node, ast.Tuple | ast.List) or not node.elts:
        return None
    rows = [each.elts if isinstance(each, ast.Tuple | ast.List) else [each] for each in node.elts]
    numbers = all(isinstance(literal_of(each), int | float) for row in rows for each in row)
    kinds = {isinstance(each, ast.Tuple | ast.List) for each in node.elts}
    if not numbers or len(kinds) > 1 or len({*map(len, rows)}) > 1 or not rows[0]:
        return None
    return [list(column) for column in zip(*rows, strict=True)]


def array_of(node: ast.expr) -> ast.expr:
    """The array of an element: ``A`` in ``A[i][j]``."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def subscripts_of(node: ast.expr) -> list[ast.expr]:
    """The subscripts of an element in order."""
    if not isinstance(node, ast.Subscript):
        return []
    own = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
    return [*subscripts_of(node.value), *own]


def nodes_without(statement: ast.AST, left_out: frozenset[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a statement, without those of contributions."""
    if statement in left_out:
        return
    yield statement
    for child in ast.iter_child_nodes(statement):
        yield from nodes_without(child, left_out)


def shortened(node: ast.AST) -> str:
    """The text of a node, or what it begins with, short enough for a message."""
    text = ast.unparse(node)
    begun = text.partition("\n")[0][:40]
    return text if text == begun else f"{begun}.."


_WORDS = {
    ast.With: "`with`",
    ast.Try: "`try`",
    ast.Delete: "`del`",
    ast.FunctionDef: "a function in the body",
    ast.Lambda: "a function in the body",
    ast.Expr: "a call for its effect",
    ast.ListComp: "a list",
    ast.List: "a list",
    ast.Dict: "a dictionary",
    ast.JoinedStr: "text",
    ast.Match: "`match`",
    ast.Assign: "an assignment to several targets",
}


def described(node: ast.AST) -> str:
    """What a node is, for a message."""
    return _WORDS.get(type(node), f"`{shortened(node)}`")
