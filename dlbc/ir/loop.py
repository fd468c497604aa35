"""An annotated loop in its module, the classes of its variables, and the proofs of its independence.

The proof methods go from the cheapest to the assertion of the user. `dlbc explain` explains them; the emitted
program and the statistics state the proof status.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from enum import Enum

from dlbrt.records import dataclass

from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.annotation import Annotation
from dlbc.source import Source

Scope = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda


@dataclass(frozen=True)
class Module:
    """A parsed file. ``tree`` is CPython's own; the emitter rewrites a lossless tree.

    ``imported``: other modules import it, and may read its names. ``origin`` is the path of the source from
    where the generated file is to be, if they do not lie together. ``starts``: it starts the runtime even if
    it has no annotated loop.
    """

    source: Source
    tree: ast.Module
    imported: bool = False
    origin: str = ""
    starts: bool = False


@dataclass(frozen=True)
class AnnotatedLoop:
    """A ``for`` statement with its annotation.

    ``ordinal`` counts the loops of the file (`for`, `async for`, `while`) in document order from 0: it
    names the same loop in CPython's tree and in the lossless tree. ``number`` counts the emitted parallel
    loops from 1. ``path``: the enclosing nodes from the module down to the owner of the statement list.
    ``scope``: the innermost function, class or module. ``read_by_costs``: names that the `cost` clauses of
    other loops read. ``others``: the parallel loops of the file. ``names_are_attributes``: code
    anywhere may read the names of the scope, since they are attributes of a class or an imported module.
    """

    node: ast.For
    annotation: Annotation
    ordinal: int
    number: int
    path: tuple[ast.AST, ...]
    scope: Scope
    read_by_costs: frozenset[str] = frozenset()
    others: tuple[ast.For, ...] = ()
    names_are_attributes: bool = False


@dataclass(frozen=True)
class AnnotatedRoutine:
    """A sequential loop annotated `iterate`, around parallel ones; fields as in `AnnotatedLoop`."""

    node: ast.For | ast.While
    annotation: Annotation
    ordinal: int
    path: tuple[ast.AST, ...]
    scope: Scope


class VariableClass(Enum):
    """How the value of a variable travels; each variable of a planned loop has exactly one class."""

    LOOP = "loop"
    DISTRIBUTED = "distributed"
    BROADCAST = "broadcast"
    REDUCTION = "reduction"
    ORDERED = "ordered container"
    PRIVATE = "private"
    LASTPRIVATE = "last value"


@dataclass(frozen=True, slots=True)
class ClassifiedVariable:
    """One variable, or one array of the table (``self.A``).

    For a distributed array: ``axis`` is distributed; an iteration touches ``halo_below`` rows before its own
    row and ``halo_above`` rows after it; ``rows_of_all`` are rows that all iterations read. ``whole_array``:
    every rank gets a whole array, not a value. ``operator`` combines a reduction; ``companion_of`` names the
    reduction that a companion belongs to. ``live``: the last value of a loop variable is read after the loop.
    """

    name: str
    variable_class: VariableClass
    axis: int | None = None
    halo_below: int = 0
    halo_above: int = 0
    rows_of_all: tuple[str, ...] = ()
    whole_array: bool = False
    live: bool = False
    operator: str = ""
    companion_of: str = ""


class ProofMethod(Enum):
    """How the stores into an array were proved disjoint, in the order in which the methods are tried."""

    EQUAL = "equal subscripts"
    SETS = "integer sets"
    SOLVER = "solver"
    INSPECTOR = "inspector before the loop"
    ASSERTED = "the word of the user"


class ProofStatus(Enum):
    """How far a loop's independence is established."""

    PROVEN = "proven"
    GUARDED = "proven under a run-time guard"
    CHECKED = "checked while it runs"
    ASSERTED = "asserted by the user"


@dataclass(frozen=True, slots=True)
class IndependenceProof:
    """The stores into ``array`` are disjoint between iterations.

    ``axis``: the axis on which each iteration stores to rows of its own; None where the stores are disjoint
    element by element only. ``shared_rows``: an iteration may read other elements of rows that another one
    stores to. ``guards``: conditions on names from before the loop, as source text, that the proof requires.
    ``numbers``: names that the proof takes for the numbers that they are bound to. ``tried``: one line for
    each method tried, with its outcome.
    """

    array: str
    method: ProofMethod
    axis: int | None
    shared_rows: bool = False
    guards: tuple[str, ...] = ()
    numbers: tuple[tuple[str, int], ...] = ()
    tried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProofFailure:
    """The stores into ``array`` were not proved disjoint: why, and what was tried."""

    array: str
    finding: Diagnostic
    tried: tuple[str, ...] = ()


def status_of(
    proofs: Sequence[IndependenceProof],
    trusted: Sequence[str],
    watched: Sequence[tuple[str, int]],
    dispatched: bool = False,
) -> ProofStatus:
    """The proof status of a loop: the weakest that its proofs, assertions and watched calls allow.

    ``dispatched``: it is checked before the loop which methods its objects have.
    """
    if trusted or any(p.method is ProofMethod.ASSERTED for p in proofs):
        return ProofStatus.ASSERTED
    if watched:
        return ProofStatus.CHECKED
    guarded = dispatched or any(p.guards or p.method is ProofMethod.INSPECTOR for p in proofs)
    return ProofStatus.GUARDED if guarded else ProofStatus.PROVEN
