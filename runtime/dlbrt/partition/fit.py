"""A cumulative work t(x) fitted to sample timings (Swartz, sections 2 and 3).

The paper fits A x^p / (ln x - 1.08366) to timings of its program and gets p = 1.43. `power` does the same for
any form A x^p g(x): linear least squares of ln(t / g) = ln A + p ln x. If no form suggests itself, `monotone`
interpolates: samples that decrease through noise are replaced by the nearest increasing ones (least squares,
by pooling neighbours), and joined by the cubics of Fritsch and Carlson (SIAM J. Numer. Anal. 17, 1980), which
have a continuous t' >= 0, so that Newton's method applies. `best` takes the form that predicts left-out
samples best.

Samples are (x, t): cumulative times below x, in any unit, x increasing.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dlbrt.data.layout import Floats
from dlbrt.partition.work import Curve, evaluate
from dlbrt.records import dataclass

#: With so few samples none can be left out.
_FEW = 3


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted curve and its derivative; ``text`` writes it out.

    ``error`` is the root mean square of (fitted - measured) / measured over the samples with t > 0.
    """

    t: Curve
    derivative: Curve
    text: str
    error: float


def power(x: ArrayLike, t: ArrayLike, g: Curve | None = None, name: str = "g(x)") -> Fit:
    """t = A x^p g(x) through samples at two or more different x, by least squares of the logarithms.

    Without ``g`` the form is A x^p. The derivative is analytic, except g', a central difference.
    ValueError for samples, or values of g, that are not finite and above 0.
    """
    xs, ts = _samples(x, t)
    shape = np.ones(len(xs)) if g is None else evaluate(g, xs)
    if len(xs) < 2 or not (np.isfinite(shape).all() and min(xs.min(), ts.min(), shape.min()) > 0):
        raise ValueError("expected two samples or more with x, t and g(x) finite and above 0")
    exponent, logarithm = np.polyfit(np.log(xs), np.log(ts / shape), 1)
    curve, slope = _power_curves(exp(logarithm), float(exponent), g)
    text = f"{exp(logarithm):.6g} * x**{exponent:.6g}" + ("" if g is None else f" * {name}")
    return Fit(curve, slope, text, _error(curve, xs, ts))


def monotone(x: ArrayLike, t: ArrayLike) -> Fit:
    """The increasing cubic interpolation of two or more samples; beyond them it goes on as a line.

    ValueError for samples that are not finite, x that does not increase, or negative t.
    """
    xs, ts = _samples(x, t)
    if len(xs) < 2:
        raise ValueError(f"expected two samples or more, found {len(xs)}")
    rising = _increasing(ts)
    curve, slope = _cubics(xs, rising, _tangents(xs, rising))
    return Fit(curve, slope, f"increasing cubics through {len(xs)} samples", _error(curve, xs, ts))


def best(x: ArrayLike, t: ArrayLike, g: Curve | None = None) -> Fit:
    """The fit among A x^p, A x^p g(x) and increasing cubics with the least error at samples left out.

    Every other inner sample is left out in turn. With fewer than 4 samples: A x^p, or the cubics if a sample
    has no logarithm. ValueError as `monotone`.
    """
    xs, ts = _samples(x, t)
    forms = [lambda a, b: power(a, b), *([lambda a, b: power(a, b, g)] if g else []), monotone]
    if min(xs.min(), ts.min()) <= 0:
        return monotone(xs, ts)
    if len(xs) <= _FEW:
        return power(xs, ts)
    return min(forms, key=lambda form: _left_out_error(form, xs, ts))(xs, ts)


def _left_out_error(form: Callable[[Floats, Floats], Fit], x: Floats, t: Floats) -> float:
    inner = np.arange(1, len(x) - 1)
    found = []
    for out in (inner[::2], inner[1::2]):
        kept = np.setdiff1d(np.arange(len(x)), out)
        found.append(_error(form(x[kept], t[kept]).t, x[out], t[out]) ** 2 * len(out))
    return float(sum(found))


def _power_curves(a: float, p: float, g: Curve | None) -> tuple[Curve, Curve]:
    if g is None:
        return (lambda x: a * x**p), (lambda x: a * p * x ** (p - 1))
    shape = g

    def slope(x: Floats) -> Floats:
        dx = 6e-6 * x
        bend = (shape(x + dx) - shape(x - dx)) / (2 * dx)
        return np.asarray(a * x**p * (p * shape(x) / x + bend))

    return (lambda x: a * x**p * shape(x)), slope


def _increasing(t: Floats) -> Floats:
    """The nearest non-decreasing sequence (pool adjacent violators)."""
    pools: list[tuple[float, int]] = []
    for value in t.tolist():
        pool = (value, 1)
        while pools and pools[-1][0] > pool[0]:
            mean, count = pools.pop()
            both = count + pool[1]
            pool = (mean + (pool[0] - mean) * pool[1] / both, both)
        pools.append(pool)
    return np.repeat([mean for mean, _ in pools], [count for _, count in pools])


def _tangents(x: Floats, t: Floats) -> Floats:
    """Slopes at the samples that make the cubics increase: harmonic means of the neighbouring slopes."""
    width, rise = np.diff(x), np.diff(t) / np.diff(x)
    left, right = rise[:-1], rise[1:]
    first, second = 2 * width[1:] + width[:-1], width[1:] + 2 * width[:-1]
    with np.errstate(all="ignore"):
        inner = (first + second) / (first / left + second / right)
    inner = np.where((left > 0) & (right > 0), inner, 0.0)
    return np.concatenate((rise[:1], inner, rise[-1:]))


def _cubics(x: Floats, t: Floats, m: Floats) -> tuple[Curve, Curve]:
    """The Hermite cubics through the samples with these slopes, lines outside; and the derivative."""
    width, rise = np.diff(x), np.diff(t) / np.diff(x)
    square = (3 * rise - 2 * m[:-1] - m[1:]) / width
    cube = (m[:-1] + m[1:] - 2 * rise) / width**2

    def place(at: ArrayLike) -> tuple[NDArray[np.intp], Floats, Floats]:
        inside = np.clip(np.asarray(at, dtype=np.float64), x[0], x[-1])
        cell = np.clip(np.searchsorted(x, inside, side="right") - 1, 0, len(width) - 1)
        return cell, inside - x[cell], np.asarray(at) - inside

    def curve(at: ArrayLike) -> Floats:
        cell, d, beyond = place(at)
        end = np.where(beyond < 0, m[0], m[-1])
        return np.asarray(t[cell] + d * (m[cell] + d * (square[cell] + d * cube[cell])) + end * beyond)

    def slope(at: ArrayLike) -> Floats:
        cell, d, _ = place(at)
        return np.asarray(m[cell] + d * (2 * square[cell] + 3 * d * cube[cell]))

    return curve, slope


def _error(curve: Curve, x: Floats, t: Floats) -> float:
    usable = t > 0
    if not usable.any():
        return 0.0
    with np.errstate(over="ignore"):
        return float(np.sqrt(np.mean(np.square(evaluate(curve, x[usable]) / t[usable] - 1))))


def _samples(x: ArrayLike, t: ArrayLike) -> tuple[Floats, Floats]:
    xs, ts = np.asarray(x, dtype=np.float64), np.asarray(t, dtype=np.float64)
    if xs.ndim != 1 or xs.shape != ts.shape or not len(xs):
        raise ValueError(f"expected a time t for each x, found shapes {xs.shape} and {ts.shape}")
    if not (np.isfinite(xs).all() and np.isfinite(ts).all() and (np.diff(xs) > 0).all() and ts.min() >= 0):
        raise ValueError("expected finite samples, x increasing and t of 0 or more")
    return xs, ts
