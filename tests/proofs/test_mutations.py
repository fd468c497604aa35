"""A planted dependence is always refused, and the program that it was planted in always accepted.

The originals really have no conflict and the mutants really have one: both are executed with recording
arrays.
"""

from __future__ import annotations

import pytest

from tests.proofs.mutants import Mutation, mutations
from tests.proofs.recording import record
from tests.proofs.verdicts import verdict_of

MUTATIONS = mutations()

each = pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name.replace(" ", "_"))


def test_there_are_enough_and_all_differ() -> None:
    assert len(MUTATIONS) >= 300
    assert len({m.original for m in MUTATIONS}) == len({m.mutant for m in MUTATIONS}) == len(MUTATIONS)


@each
def test_the_plant_makes_a_conflict_where_there_was_none(mutation: Mutation) -> None:
    assert not [c for run in record(mutation.original) for c in run.conflicts()], mutation.original
    assert any(any(run.conflicts()) for run in record(mutation.mutant)), mutation.mutant


@each
def test_the_original_is_accepted(mutation: Mutation) -> None:
    verdict = verdict_of(mutation.original)
    assert verdict.proved, f"{mutation.original}\n{verdict}"


@each
def test_the_mutant_is_refused(mutation: Mutation) -> None:
    verdict = verdict_of(mutation.mutant)
    assert verdict.errors, f"{mutation.mutant}\n{verdict}"
