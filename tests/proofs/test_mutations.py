"""A planted dependence is always refused, and the program that it was planted in always accepted.

The originals really have no conflict and the mutants really have one: both are executed with recording
arrays.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.proofs.mutants import Mutation, mutations
from tests.proofs.recording import record
from tests.proofs.verdicts import verdict_of
from tests.support.tier import part

MUTATIONS = mutations()


def broken(claim: Callable[[Mutation], str]) -> str:
    """What `claim` says against the mutations, of those it says something against."""
    return "\n\n".join(f"{m.name}:\n{said}" for m in part(MUTATIONS, 4) if (said := claim(m)))


def test_there_are_enough_and_all_differ() -> None:
    assert len(MUTATIONS) >= 300
    assert len({m.original for m in MUTATIONS}) == len({m.mutant for m in MUTATIONS}) == len(MUTATIONS)


def test_the_plants_make_conflicts_where_there_were_none() -> None:
    def claim(m: Mutation) -> str:
        if [c for run in record(m.original) for c in run.conflicts()]:
            return m.original
        return "" if any(any(run.conflicts()) for run in record(m.mutant)) else m.mutant

    found = broken(claim)
    assert not found, found


def test_the_originals_are_accepted() -> None:
    def claim(m: Mutation) -> str:
        verdict = verdict_of(m.original)
        return "" if verdict.proved else f"{m.original}\n{verdict}"

    found = broken(claim)
    assert not found, found


def test_the_mutants_are_refused() -> None:
    def claim(m: Mutation) -> str:
        verdict = verdict_of(m.mutant)
        return "" if verdict.errors else f"{m.mutant}\n{verdict}"

    found = broken(claim)
    assert not found, found
