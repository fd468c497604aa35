"""Affine forms compute as the expressions that they stand for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dlbc.ir.affine import Affine

N = 7

forms = st.recursive(
    st.one_of(
        st.integers(-9, 9).map(lambda k: (Affine.literal(k), lambda i, k=k: k)),
        st.just((Affine.index(), lambda i: i)),
        st.just((Affine.symbol("n"), lambda i: N)),
    ),
    lambda inner: st.tuples(inner, inner).map(
        lambda p: (p[0][0] - p[1][0], lambda i: p[0][1](i) - p[1][1](i))
    ),
    max_leaves=6,
)


def value(form: Affine, i: int) -> int:
    return form.coefficient * i + sum(k * N ** len(m) for m, k in form.terms)


@given(forms, forms, st.integers(-20, 20))
def test_forms_compute(left: object, right: object, i: int) -> None:
    (a, f), (b, g) = left, right  # type: ignore[misc]
    assert value(a + b, i) == f(i) + g(i)
    product = a.times(b)
    if product is not None:
        assert value(product, i) == f(i) * g(i)


def test_a_symbolic_slope_is_not_affine() -> None:
    assert Affine.index().times(Affine.symbol("n")) is None
    assert Affine.index().times(Affine.index()) is None


def test_equal_forms_are_equal_values() -> None:
    n, i = Affine.symbol("n"), Affine.index()
    assert n - Affine.literal(1) - i == -i + n + Affine.literal(-1)
    assert (i + n - n).constant == 0
