"""An annotated loop found in its module: the tree that analysis reads, the scopes around it."""

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
    """A parsed file. ``tree`` is CPython's own; rewriting uses the lossless one of the emitter."""

    source: Source
    tree: ast.Module


@dataclass(frozen=True)
class AnnotatedLoop:
    """A ``for`` statement with its annotation.

    ``ordinal`` counts the loops of the file (`for`, `async for`, `while`) in document order from 0: it
    names the same loop in CPython's tree and in the lossless tree. ``number`` counts the emitted
    parallel loops from 1. ``path`` holds the enclosing nodes from the module (first) down to the
    statement list's owner (last); ``scope`` is the innermost function, class or module. ``read_by_costs``:
    names that clauses of other loops read, which no statement need show.
    """

    node: ast.For
    annotation: Annotation
    ordinal: int
    number: int
    path: tuple[ast.AST, ...]
    scope: Scope
    read_by_costs: frozenset[str] = frozenset()


@dataclass(frozen=True)
class AnnotatedRoutine:
    """A sequential loop annotated `iterate`, around parallel ones; fields as of `AnnotatedLoop`."""

    node: ast.For | ast.While
    annotation: Annotation
    ordinal: int
    path: tuple[ast.AST, ...]
    scope: Scope


# ------------------------------------------------------------------------------
# What every variable of a loop is to its iterations: the class that says how its value travels.


class VariableClass(Enum):
    """The classes of variables; each variable of a planned loop is of one of them."""

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

    Of what is distributed, ``axis`` is dealt, an iteration reaches ``below`` rows before the one that it owns
    and ``above`` rows after it, and ``fixed`` are rows that all iterations read. ``whole``: every rank gets
    all of an array, rather than a value. ``operator`` combines a reduction, ``of`` is the one it goes with.
    ``live``: the last value of a loop variable is read after the loop.
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


# ------------------------------------------------------------------------------
# On what the verdict over a loop rests: what was proved, by which means, under which conditions.
#
# The ladder of the dependence test, from the cheapest means to the word of the user; explained to people by
# `dlbc explain`, stated in the emitted program and in the statistics.


class ProofMethod(Enum):
    """By what the stores into an array were found to be disjoint, in the order in which it is tried."""

    EQUAL = "equal subscripts"
    SETS = "integer sets"
    SOLVER = "solver"
    INSPECTOR = "inspector before the loop"
    ASSERTED = "the word of the user"


class ProofStatus(Enum):
    """How far a loop's independence is established."""

    PROVEN = "proven"
    GUARDED = "proven under a run-time guard"
    CONDITIONAL = "proven if outside functions have no side effects"
    ASSERTED = "asserted by the user"


@dataclass(frozen=True, slots=True)
class IndependenceProof:
    """The stores into ``array`` are disjoint between iterations.

    ``axis``: the dimension on which each iteration stores to rows of its own, None where they are disjoint
    element by element only. ``shared_rows``: whether an iteration may read rows that another one stores to
    (other elements of them). ``guards``: conditions on names from before the loop, as source text, on which
    it rests; ``tried``: one line for each means tried, with what came of it.
    """

    array: str
    method: ProofMethod
    axis: int | None
    shared_rows: bool = False
    guards: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProofFailure:
    """The stores into ``array`` were not found to be disjoint: why, and what was tried."""

    array: str
    finding: Diagnostic
    tried: tuple[str, ...] = ()


def status_of(
    proofs: Sequence[IndependenceProof], trusted: Sequence[str], outside: Sequence[str]
) -> ProofStatus:
    """How far independence is established: the weakest of verdicts, words of the user, functions not seen."""
    if trusted or any(v.method is ProofMethod.ASSERTED for v in proofs):
        return ProofStatus.ASSERTED
    if outside:
        return ProofStatus.CONDITIONAL
    looked = any(v.guards or v.method is ProofMethod.INSPECTOR for v in proofs)
    return ProofStatus.GUARDED if looked else ProofStatus.PROVEN
