"""What a static distribution of equal tasks will cost: estimates of Ciegis et al. in closed form.

E_p = T(1) / (p T(p)) on p equal processors, section 2.1 (table 1); communication is not counted. The
efficiency "0.5" that the paper prints for m = p + 1 rows is the limit of (p + 1) / 2p. The closed forms of
eliminations are in `samples/papers/ciegis`.
"""

from __future__ import annotations

__all__ = [
    "fewest_processors",
    "product_bound",
    "product_efficiency",
]


def product_efficiency(m: int, p: int) -> float:
    """m equal tasks in blocks on p processors: m / (p ceil(m / p))."""
    return m / (p * _stages(m, p))


def product_bound(r: int, p: int) -> float:
    """The least of that for m > r p, r = floor(m / p): 1 - (p - 1) / (p (r + 1)) (equation 2, table 1)."""
    return 1 - (p - 1) / (p * (r + 1))


def fewest_processors(m: int, p: int) -> int:
    """Remark 1: how few of p equal processors do m equal tasks in the same time as all of them.

    For m = p + 1 that is floor((m + 1) / 2): the others are idle for half of the time.
    """
    return -(-m // _stages(m, p))


def _stages(m: int, p: int) -> int:
    if m < 1 or p < 1:
        raise ValueError(f"expected at least 1 row and 1 processor, found {m} and {p}")
    return -(-m // p)
