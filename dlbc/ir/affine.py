"""Affine forms of one index variable: ``a*i + c`` with a literal ``a`` and a loop-invariant ``c``.

``c`` is a polynomial over the texts of loop-invariant expressions (``n``, ``len(x)``, ``x.shape[0]``),
kept in a normal form, so that two forms are equal exactly if their fields are. A product of the index with
anything but an integer literal is no affine form: the dependence test needs the literal.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

__all__ = ["Affine"]

Monomial = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Affine:
    """``coefficient * index + sum(factor * product(monomial))``; the empty monomial is the literal part."""

    coefficient: int
    terms: tuple[tuple[Monomial, int], ...] = ()

    @classmethod
    def index(cls) -> Affine:
        """The index variable itself."""
        return cls(1)

    @classmethod
    def literal(cls, value: int) -> Affine:
        """An integer literal."""
        return cls(0, _normal(Counter({(): value})))

    @classmethod
    def symbol(cls, text: str) -> Affine:
        """A loop-invariant expression that is not looked into."""
        return cls(0, (((text,), 1),))

    @property
    def constant(self) -> int | None:
        """The part beside the index where it is an integer literal, else None."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    def __add__(self, other: Affine) -> Affine:
        sums = Counter(dict(self.terms))
        sums.update(dict(other.terms))
        return Affine(self.coefficient + other.coefficient, _normal(sums))

    def __neg__(self) -> Affine:
        return Affine(-self.coefficient, tuple((m, -k) for m, k in self.terms))

    def __sub__(self, other: Affine) -> Affine:
        return self + -other

    def times(self, other: Affine) -> Affine | None:
        """The product, or None where it is not affine with a literal coefficient."""
        if self.coefficient and other.coefficient:
            return None
        moving, fixed = (self, other) if self.coefficient else (other, self)
        if moving.coefficient and fixed.constant is None:
            return None
        products: Counter[Monomial] = Counter()
        for left, j in moving.terms:
            for right, k in fixed.terms:
                products[tuple(sorted(left + right))] += j * k
        return Affine(moving.coefficient * (fixed.constant or 0), _normal(products))

    def shifted_text(self, at: int) -> str:
        """The value at index ``at``: a number, or a sum over the symbols (for messages)."""
        value = self + Affine.literal(self.coefficient * at)
        parts = ["*".join((*([str(k)] if k != 1 or not m else []), *m)) for m, k in reversed(value.terms)]
        return " + ".join(parts) or "0"


def _normal(sums: Counter[Monomial]) -> tuple[tuple[Monomial, int], ...]:
    return tuple(sorted((m, k) for m, k in sums.items() if k))
