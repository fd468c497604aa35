"""What the constructors of kinds say is kept."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from dlbrt import ELEMENTS, REDUCE, SELECT
from dlbrt.effects.kinds import Form, Kind

MADE = [
    (REDUCE("+"), Kind(Form.LOGGED, "+")),
    (REDUCE("+", several=True), Kind(Form.PER_ITERATION, "+")),
    (REDUCE("-", several=True), Kind(Form.LOGGED, "-")),
    (REDUCE("*", order="any"), Kind(Form.PER_RUN, "*", any_order=True)),
    (REDUCE("max", several=True), Kind(Form.EXTREME, "max")),
    (REDUCE("and"), Kind(Form.PER_RUN, "and")),
    (SELECT("<=", "where", "row"), Kind(Form.SELECTION, "<=", companions=("where", "row"))),
    (ELEMENTS("+", integer=True), Kind(Form.ELEMENTS, "+", integer=True)),
    (ELEMENTS("+", order="any", grows=True), Kind(Form.ELEMENTS, "+", any_order=True, grows=True)),
    (ELEMENTS("min"), Kind(Form.ELEMENTS, "min")),
]


@pytest.mark.parametrize(("made", "kind"), MADE)
def test_what_is_kept(made: Kind, kind: Kind) -> None:
    assert made == kind
    assert made.bound == (made.form is not Form.ELEMENTS)


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
def test_what_is_refused(make: Callable[[], Kind], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
