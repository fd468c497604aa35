"""Emulated external load and unequal processors.

The discrete random load of Zaki, Li, Parthasarathy (section 1.3.1, figure 1.3): a rank's load is an integer
drawn from 0..max for each duration of persistence t_l, counted from loop entry; a rank with load l computes
1/(l+1) as fast. Relative speeds slow all but the fastest rank. Pure: elapsed times are arguments, and the
k-th draw of rank r is the k-th of ``random.Random(seed + r)``, whatever the order of queries. Between block
boundaries the slowdown is constant, so that times are integrated exactly.

A processor may also have a cliff: its speed over the units that it holds is level up to the cliff, and slow
beyond it. Clarke, Lastovetsky and Rychkov measured this (figures 5, 9 and 12): a processor keeps its speed
while its share of the matrix fits into memory, and falls off steeply where it begins to page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import inf, isfinite
from typing import TYPE_CHECKING, TypeVar

from dlbrt.contract import ENVIRONMENT, LAST, TRIAL, OptionError
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from random import Random

#: The width of the fall of the speed, as a part of the units that fit.
WIDTH = 0.15


@dataclass(frozen=True, slots=True)
class Cliff:
    """Up to ``units`` fit; with ``width`` times as many more, the processor is ``factor`` times slower.

    In between the time of a unit rises smoothly (3 u^2 - 2 u^3). Units and width are above 0, factor at least
    1.
    """

    units: float
    factor: float
    width: float = WIDTH

    def slowdown(self, held: float) -> float:
        """How many times longer each unit takes while ``held`` units are held."""
        u = min(max((held - self.units) / (self.width * self.units), 0.0), 1.0)
        return 1 + (self.factor - 1) * u * u * (3 - 2 * u)


_T = TypeVar("_T")

_LOAD_FORMS = "fixed:0,0,3,1 (a load per rank), random:max=5,duration=0.5,seed=7 or none"
_SPEED_FORMS = "1,1.5@400:15,2 (a speed per rank; 15 times slower where it holds more than 400 units)"
_WEIGHT_FORMS = f"2,1,1 (a number per rank), {LAST} or {TRIAL}"
_MAX_LOAD = 1_000_000
_SHORTEST_S = 1e-4
_MAX_UNEQUAL = 1e6
_MAX_UNITS = 1e15


@dataclass(frozen=True, slots=True)
class RandomLoad:
    """Integers 0..maximum (included), each lasting ``duration_s`` seconds."""

    maximum: int
    duration_s: float
    seed: int


@dataclass(frozen=True, slots=True)
class LoadSpec:
    """The emulation: a fixed load per rank or a random one, relative speeds, cliffs; empty: none."""

    levels: tuple[int, ...] = ()
    random: RandomLoad | None = None
    speeds: tuple[float, ...] = ()
    cliffs: tuple[Cliff | None, ...] = ()


def _generator(seed: int) -> Random:
    from random import Random

    return Random(seed)


class Load:
    """The emulated load of one rank in one loop.

    ``active`` is False if this rank is never slowed; ``speed_factor`` is how many times longer an iteration
    takes than on the fastest processor, with the units that this one holds and without load.
    """

    def __init__(self, spec: LoadSpec, rank: int) -> None:
        self._unpaged_factor = max(spec.speeds) / spec.speeds[rank] if spec.speeds else 1.0
        self._cliff = spec.cliffs[rank] if spec.cliffs else None
        self.speed_factor = self._unpaged_factor
        self._fixed = spec.levels[rank] if spec.levels else 0
        self._random = spec.random if spec.random and spec.random.maximum else None
        self._draws = _generator(self._random.seed + rank) if self._random else None
        self._levels: list[int] = []
        self.active = bool(self._fixed or self._random or self.speed_factor != 1.0 or self._cliff)

    @classmethod
    def none(cls) -> Load:
        """Nothing emulated."""
        return cls(LoadSpec(), 0)

    def hold(self, units: int) -> None:
        """This rank begins to work on ``units`` units: all of their data is in use from now on."""
        if self._cliff is not None:
            self.speed_factor = self._unpaged_factor * self._cliff.slowdown(units)

    def level(self, elapsed_s: float) -> int:
        """The load at ``elapsed_s`` seconds after loop entry."""
        if self._random is None:
            return self._fixed
        return self._level_of(_block(elapsed_s, self._random.duration_s))

    def stretch(self, start_s: float, compute_s: float) -> float:
        """Seconds that ``compute_s`` of unloaded computing take, beginning ``start_s`` after loop entry."""
        if self._random is None:
            return compute_s * (self._fixed + 1) * self.speed_factor
        duration_s = self._random.duration_s
        now_s = max(start_s, 0.0)
        block = _block(now_s, duration_s)
        taken_s = 0.0
        while True:
            slowdown = (self._level_of(block) + 1) * self.speed_factor
            left_s = (block + 1) * duration_s - now_s
            if compute_s * slowdown <= left_s:
                return taken_s + compute_s * slowdown
            compute_s -= left_s / slowdown
            taken_s += left_s
            block += 1
            now_s = block * duration_s

    def _level_of(self, block: int) -> int:
        if self._random is None or self._draws is None:
            return self._fixed
        while len(self._levels) <= block:
            self._levels.append(self._draws.randint(0, self._random.maximum))
        return self._levels[block]


def _block(elapsed_s: float, duration_s: float) -> int:
    """The k with k * duration <= elapsed < (k + 1) * duration, as these products are rounded."""
    block = max(0, int(elapsed_s // duration_s))
    while block and block * duration_s > elapsed_s:
        block -= 1
    while (block + 1) * duration_s <= elapsed_s:
        block += 1
    return block


def parse_load(text: str, ranks: int) -> LoadSpec:
    """The load that DLB_LOAD describes; OptionError if it is malformed or has not one value per rank."""
    kind, colon, rest = text.strip().partition(":")
    if kind == "none" and not colon:
        return LoadSpec()
    if kind == "fixed" and colon:
        return LoadSpec(levels=_list("load", rest, ranks, _integer))
    if kind == "random" and colon:
        return LoadSpec(random=_random(rest))
    raise _malformed("load", _LOAD_FORMS, text)


def parse_speeds(text: str, ranks: int) -> tuple[float, ...]:
    """The relative speeds that DLB_SPEEDS lists, each above 0, cliffs apart; OptionError if malformed."""
    speeds = tuple(speed for speed, _ in _list("speeds", text, ranks, _processor))
    if min(speeds) <= 0 or max(speeds) / min(speeds) > _MAX_UNEQUAL:
        expected = f"speeds above 0, the fastest at most {_MAX_UNEQUAL:.0f} times the slowest"
        raise _malformed("speeds", expected, text)
    return speeds


def parse_cliffs(text: str, ranks: int) -> tuple[Cliff | None, ...]:
    """The cliffs that DLB_SPEEDS gives some ranks; empty where it gives none. OptionError if malformed."""
    cliffs = tuple(cliff for _, cliff in _list("speeds", text, ranks, _processor))
    return cliffs if any(cliffs) else ()


def parse_weights(text: str, ranks: int) -> tuple[float, ...] | None:
    """The relative speeds that DLB_WEIGHTS lists, not all of them 0; OptionError if malformed.

    None for ``last``, the speeds measured by the last run, and for ``trial``, which measures them.
    """
    if text.strip() in (LAST, TRIAL):
        return None
    if text.strip().isalpha():
        raise _malformed("weights", _WEIGHT_FORMS, text)
    weights = _list("weights", text, ranks, _number)
    if not any(weights):
        raise _malformed("weights", "at least one weight above 0", text)
    return weights


def _random(text: str) -> RandomLoad:
    """The settings max, duration and, if given, seed."""
    settings = dict.fromkeys(("max", "duration", "seed"), "")
    for item in text.split(","):
        key, equals, value = (part.strip() for part in item.partition("="))
        if key not in settings or not equals or not value or settings[key]:
            expected = "max=INTEGER,duration=SECONDS,seed=INTEGER after random:, each once"
            raise _malformed("load", expected, item)
        settings[key] = value
    for key in ("max", "duration"):
        if not settings[key]:
            raise _malformed("load", f"{key}= in random:max=5,duration=0.5,seed=7", text)
    duration_s = _number("load", settings["duration"])
    if duration_s < _SHORTEST_S:
        raise _malformed("load", f"a duration of {_SHORTEST_S:g} s or more", settings["duration"])
    return RandomLoad(_integer("load", settings["max"]), duration_s, _seed(settings["seed"] or "0"))


def list_length(text: str) -> int:
    """For how many ranks a list is: ``1*7,3*4`` for 11, of two types (Swartz, section 4)."""
    return sum(count for _, count in _items(text))


def _items(text: str) -> Iterator[tuple[str, int]]:
    """The items of a list, and how often each comes; an item with a malformed number of times stays whole."""
    for item in text.split(","):
        value, times, count = item.rpartition("*")
        if times and re.fullmatch("[1-9][0-9]{0,5}", count.strip()):
            yield value.strip(), int(count)
        else:
            yield item.strip(), 1


def _list(option: str, text: str, ranks: int, parse: Callable[[str, str], _T]) -> tuple[_T, ...]:
    values = [(parse(option, item), count) for item, count in _items(text)]
    if (length := list_length(text)) != ranks:
        found = "1 value" if length == 1 else f"{length} values"
        expected = f"expected {ranks} values, one per rank"
        raise OptionError(f"{named(option)}: {expected}; found {found} in {text.strip()!r}")
    return tuple(value for value, count in values for _ in range(count))


def _integer(option: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,7}", text) or int(text) > _MAX_LOAD:
        raise _malformed(option, f"an integer from 0 to {_MAX_LOAD}", text)
    return int(text)


def _processor(option: str, text: str) -> tuple[float, Cliff | None]:
    """A relative speed and, if given, ``@UNITS:FACTOR``."""
    speed, at, cliff = (part.strip() for part in text.partition("@"))
    if not at:
        return _number(option, speed), None
    units, _, factor = (part.strip() for part in cliff.partition(":"))
    if not (units and factor):
        raise _malformed(option, _SPEED_FORMS, text)
    fit, slower = _number(option, units), _number(option, factor)
    if not (1 <= fit <= _MAX_UNITS and 1 <= slower <= _MAX_UNEQUAL):
        expected = f"@UNITS:FACTOR of 1 unit or more and a factor from 1 to {_MAX_UNEQUAL:.0f}"
        raise _malformed(option, expected, text)
    return _number(option, speed), Cliff(fit, slower)


def _seed(text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        raise _malformed("load", "an integer as seed", text)
    return int(text)


def _number(option: str, text: str) -> float:
    """A finite decimal number of 0 or more."""
    plain = re.fullmatch(r"[0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+\.", text)
    value = float(text) if plain else inf
    if not isfinite(value):
        raise _malformed(option, "a number of 0 or more", text)
    return value


def _malformed(option: str, expected: str, found: str) -> OptionError:
    return OptionError(f"{named(option)}: expected {expected}; found {found.strip()!r}")


def named(option: str) -> str:
    """An option by its environment variable and its command-line name."""
    return f"{ENVIRONMENT[option]} (--{option.replace('_', '-')})"
