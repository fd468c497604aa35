"""What templates print: flat fields of text, with no decision left."""

from __future__ import annotations

from dlbrt.records import dataclass

__all__ = ["CallContext", "KernelContext", "PrologueContext", "RoutineContext", "Setting"]


@dataclass(frozen=True, slots=True)
class PrologueContext:
    """Lines that start the runtime: imports as they follow ``import``, the session's name."""

    numpy_imports: tuple[str, ...]
    mpi_import: str
    mpi: str
    runtime_import: str
    runtime: str
    exported_imports: tuple[str, ...]
    dlb: str


@dataclass(frozen=True, slots=True)
class KernelContext:
    """One kernel.

    ``schedule``, ``reductions``, ``ordered``, ``accumulators``, ``accumulate``, ``keep`` and ``reduce`` hold
    one text or none, ``require`` a text for each condition, ``work`` the calls that speak of the work of
    iterations; ``turns`` is the call that gives the iterations, ``comment`` says which; ``unset`` are names
    to clear, as chains of targets.
    """

    head: str
    dlb: str
    schedule: tuple[str, ...]
    require: tuple[str, ...]
    work: tuple[str, ...]
    arrays: str
    reductions: tuple[str, ...]
    ordered: tuple[str, ...]
    accumulators: tuple[str, ...]
    unset: tuple[str, ...]
    turns: str
    comment: str
    accumulate: tuple[str, ...]
    keep: tuple[str, ...]
    reduce: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallContext:
    """One call; ``ahead`` are statements above it.

    Where more is read afterwards than the call returns: ``result`` is the name of what it returns then,
    ``items`` and ``check`` hold that name or none, ``perhaps`` and ``surely`` pair a variable with its key.
    """

    ahead: tuple[str, ...]
    call: str
    result: str
    items: tuple[str, ...]
    perhaps: tuple[tuple[str, str], ...]
    surely: tuple[tuple[str, str], ...]
    check: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoutineContext:
    """The block around a routine: its first line, and what the comment there says."""

    head: str
    place: str


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a call stands: the name that runs loops there, how many blocks further in than in the source.

    ``ahead`` is what rank 0 looks into before the loop.
    """

    session: str
    depth: int = 0
    ahead: tuple[str, ...] = ()
