"""What the constructors of kinds say is kept."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from dlbrt import ELEMENTS, REDUCE, SELECT
from dlbrt.reductions.kinds import ContributionForm, ContributionKind

MADE = [
    (REDUCE("+"), ContributionKind(ContributionForm.LOGGED, "+")),
    (REDUCE("+", several=True), ContributionKind(ContributionForm.PER_ITERATION, "+")),
    (REDUCE("-", several=True), ContributionKind(ContributionForm.LOGGED, "-")),
    (REDUCE("*", order="any"), ContributionKind(ContributionForm.PER_RUN, "*", any_order=True)),
    (REDUCE("max", several=True), ContributionKind(ContributionForm.EXTREME, "max")),
    (REDUCE("and"), ContributionKind(ContributionForm.PER_RUN, "and")),
    (
        SELECT("<=", "where", "row"),
        ContributionKind(ContributionForm.SELECTION, "<=", companions=("where", "row")),
    ),
    (ELEMENTS("+", integer=True), ContributionKind(ContributionForm.ELEMENTS, "+", integer=True)),
    (
        ELEMENTS("+", order="any", grows=True),
        ContributionKind(ContributionForm.ELEMENTS, "+", any_order=True, grows=True),
    ),
    (ELEMENTS("min"), ContributionKind(ContributionForm.ELEMENTS, "min")),
]


@pytest.mark.parametrize(("made", "kind"), MADE)
def test_what_is_kept(made: ContributionKind, kind: ContributionKind) -> None:
    assert made == kind
    assert made.bound == (made.form is not ContributionForm.ELEMENTS)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: REDUCE(""), "expected one of \\+ - .* or, found ''"),
        (lambda: REDUCE("<"), "found '<'"),
        (lambda: ELEMENTS("+ int"), "found '\\+ int'"),
        (lambda: SELECT("max"), "expected one of < <= > >=, found 'max'"),
        (lambda: REDUCE("+", order="all"), "order: expected 'any'.*, found 'all'"),
    ],
)
def test_what_is_refused(make: Callable[[], ContributionKind], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
