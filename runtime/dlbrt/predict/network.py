"""What communication costs: latency, bandwidth, and three patterns as polynomials in the number of ranks.

Zaki, Li, Parthasarathy, sections 1.3.1 and 1.5.1: a message of b bytes takes L + b / B; one-to-all,
all-to-one and all-to-all are measured for 2..P ranks and fitted by polynomials (figure 1.6). They measure
L = 2414.5 us and B = 0.96 Mbytes/s with PVM on an Ethernet. The paper does not print its polynomials;
`samples/papers/zaki/network.py` has polynomials of that size.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from dlbrt.predict.groups import Groups
from dlbrt.records import dataclass

Vector = np.ndarray[Any, np.dtype[np.float64]]

#: Degree of a fitted pattern: all-to-all sends P (P - 1) messages.
DEGREE = 2

NUMBERS = ("latency_s", "bandwidth", "switch_s")
PATTERNS = ("one_to_all", "all_to_one", "all_to_all")


@dataclass(frozen=True, slots=True)
class Pattern:
    """The seconds a pattern takes among P ranks: sum of ``coefficients[k] * P**k``.

    It is never below ``least_s``. For more ranks than the ``most`` it was measured with (0: any number) it is
    never below its value there, wherever the polynomial goes.
    """

    coefficients: tuple[float, ...]
    most: int = 0
    least_s: float = 0.0

    def seconds(self, ranks: int) -> float:
        """For this many ranks; one rank alone needs no communication."""
        if ranks < 2:
            return 0.0
        found = max(self.least_s, self._polynomial(ranks))
        return max(found, self._polynomial(self.most)) if self.most and ranks > self.most else found

    def through(self, ranks: int, seconds: float) -> Pattern:
        """The same shape, taking ``seconds`` for ``ranks``; ValueError if it takes no time there."""
        if not (here := self.seconds(ranks)) > 0:
            raise ValueError(f"expected a pattern that takes time among {ranks} ranks")
        return self.slowed(seconds / here)

    def slowed(self, factor: float) -> Pattern:
        """The same, taking ``factor`` times as long."""
        return Pattern(tuple(c * factor for c in self.coefficients), self.most, self.least_s * factor)

    def _polynomial(self, ranks: int) -> float:
        value = 0.0
        for coefficient in reversed(self.coefficients):
            value = value * ranks + coefficient
        return value


@dataclass(frozen=True, slots=True)
class Network:
    """A network of workstations, or of the processors of one host.

    ``latency_s`` is the time of a message of one byte, ``bandwidth`` bytes a second, packing included;
    ``switch_s`` what a central balancer's host loses when it turns from computing to a request and back.
    """

    latency_s: float
    bandwidth: float
    one_to_all: Pattern
    all_to_one: Pattern
    all_to_all: Pattern
    switch_s: float = 0.0

    def __post_init__(self) -> None:
        for name, value, least in (
            ("latency_s", self.latency_s, 0.0),
            ("bandwidth", self.bandwidth, 5e-324),
            ("switch_s", self.switch_s, 0.0),
        ):
            if not (isfinite(value) and value >= least):
                raise ValueError(f"expected a finite {name} of {least:g} or more, found {value}")

    def message_s(self, size: float) -> float:
        """Seconds that a message of ``size`` bytes takes."""
        return self.latency_s + size / self.bandwidth

    def slowed(self, factor: float) -> Network:
        """The same where hosts take ``factor`` times as long to answer; the bandwidth stays."""
        return replace(
            self,
            latency_s=self.latency_s * factor,
            one_to_all=self.one_to_all.slowed(factor),
            all_to_one=self.all_to_one.slowed(factor),
            all_to_all=self.all_to_all.slowed(factor),
        )

    @classmethod
    def default(cls) -> Network:
        """Several ranks of one host, until something is measured."""
        line, square = _linear(2e-5), Pattern((0.0, 2e-5 - 2e-6, 2e-6))
        return cls(2e-5, 1e9, line, line, square)

    @classmethod
    def coarse(cls, latency_s: float, bandwidth: float, ranks: int, exchange_s: float) -> Network:
        """A network from the cost of a message and of one all-to-all among at least 2 ranks.

        The shapes are the default's. An all-to-all includes a one-to-all and an all-to-one, so neither takes
        longer.
        """
        default, each_s = cls.default(), min(latency_s, exchange_s / (ranks - 1))
        line = _linear(each_s)
        return cls(latency_s, bandwidth, line, line, default.all_to_all.through(ranks, exchange_s))

    @classmethod
    def from_json(cls, text: str) -> Network:
        """The network of a JSON object with the fields as members; ValueError for anything else."""
        import json

        try:
            found = json.loads(text)
            latency_s, bandwidth, switch_s = (float(found[name]) for name in NUMBERS)
            one, gather, exchange = (_pattern(found[name]) for name in PATTERNS)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"expected a network as a JSON object, found {text[:80]!r}: {error!r}") from None
        return cls(latency_s, bandwidth, one, gather, exchange, switch_s)


@dataclass(frozen=True, slots=True)
class Networks:
    """The network among all ranks, and those among the ranks of one host, by its name."""

    whole: Network
    within: tuple[tuple[str, Network], ...] = ()

    def of_groups(self, groups: Groups, hosts: Sequence[str]) -> tuple[Network, ...]:
        """The network of each group, ``hosts[r]`` being where rank r runs; none where no host has its own.

        A group has the network of its host, or the whole one where it runs on several hosts.
        """
        own = dict(self.within)
        if not own:
            return ()
        places = [{hosts[rank] for rank in group} for group in groups]
        return tuple(
            own.get(next(iter(place)), self.whole) if len(place) == 1 else self.whole for place in places
        )


def fit(samples: Iterable[tuple[int, float]], degree: int = DEGREE) -> Pattern:
    """The polynomial nearest to samples (ranks, seconds); a number of ranks may occur several times.

    It minimizes the squares of relative errors, as times are uncertain in proportion: so it holds for few
    ranks too. With at most ``degree + 1`` different numbers of ranks it passes through (the mean of) each; a
    single one is extended in proportion to P - 1. The pattern never costs less than the cheapest sample.
    ValueError for no samples, fewer than 2 ranks, or times that are negative or not finite.
    """
    measured = sorted(samples)
    if not measured or any(not (p >= 2 and s >= 0 and isfinite(s)) for p, s in measured):
        raise ValueError(f"expected times of 0 or more for 2 ranks or more, found {measured[:4]}")
    ranks, least_s = sorted({p for p, _ in measured}), min(s for _, s in measured)
    if len(ranks) == 1:
        mean_s = sum(s for _, s in measured) / len(measured)
        return Pattern(_linear(mean_s / (ranks[0] - 1)).coefficients, ranks[0], least_s)
    terms = min(degree, len(ranks) - 1) + 1
    return Pattern(_least_squares(measured, ranks[-1], terms), ranks[-1], least_s)


def _least_squares(samples: Sequence[tuple[int, float]], most: int, terms: int) -> tuple[float, ...]:
    """Coefficients of P**0, P**1, ..; computed in P / most, which keeps the system well conditioned."""
    ranks = np.array([p for p, _ in samples], dtype=np.float64) / most
    seconds = np.array([s for _, s in samples], dtype=np.float64)
    weights = 1 / _sizes(samples)
    terms_of = np.vander(ranks, terms, increasing=True)
    found = np.linalg.lstsq(terms_of * weights[:, None], seconds * weights, rcond=None)[0]
    return tuple(float(c) / float(most) ** k for k, c in enumerate(found))


def _sizes(samples: Sequence[tuple[int, float]]) -> Vector:
    """For each sample the mean of its number of ranks; the least is a thousandth of the longest."""
    totals: dict[int, list[float]] = {}
    for ranks, seconds in samples:
        totals.setdefault(ranks, []).append(seconds)
    means = {ranks: sum(taken) / len(taken) for ranks, taken in totals.items()}
    least = max(means.values()) / 1000 or 1.0
    return np.array([max(means[ranks], least) for ranks, _ in samples], dtype=np.float64)


def _linear(each_s: float) -> Pattern:
    """``each_s`` for every rank but one."""
    return Pattern((-each_s, each_s))


def _pattern(found: Mapping[str, Any]) -> Pattern:
    coefficients = tuple(float(c) for c in found["coefficients"])
    if not all(map(isfinite, coefficients)):
        raise ValueError(f"expected finite coefficients, found {coefficients}")
    return Pattern(coefficients, int(found["most"]), float(found["least_s"]))
