"""The solvers of one run of the compiler, made when they are first needed."""

from __future__ import annotations

from functools import cached_property

from dlbc.prove import sets, solver

__all__ = ["Provers"]


class Provers:
    """Each is None where its package is not installed."""

    @cached_property
    def sets(self) -> sets.IntegerSets | None:
        """Integer sets."""
        return sets.IntegerSets() if sets.available() else None

    @cached_property
    def solver(self) -> solver.SmtSolver | None:
        """Products of integers."""
        return solver.SmtSolver() if solver.available() else None
