"""Measured points (d, s(d)) of each rank's speed function: d units at s units a second; as tables and as
JSON.

A partial speed function is known at a few points, those where passes happened to run (Clarke, Lastovetsky,
Rychkov, section 4). A point measured again replaces the old one, since a function has one value at each d. A
pass of no units, or of no measurable time, yields no point, and the rank's other points stay.

The points of all ranks stand in one table, a row for each rank, ordered by d: adding one point to each is the
same few array operations for 16 ranks and for 10 000.
"""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from enum import Enum
from itertools import pairwise
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dlbrt.contract import OptionError
from dlbrt.data.layout import Floats
from dlbrt.records import dataclass

#: Points kept for each rank; a further point replaces the oldest.
MAX_POINTS = 64

#: A speed that differs by more than this factor from the one measured before at the same d is not scatter:
#: the rank has gained or lost a load, which changes its speed at every d by the same factor (Zaki et al.,
#: 1.3.1).
DRIFT = 1.25

_FIRST_ROOM = 8


@dataclass(frozen=True, slots=True)
class SpeedPoints:
    """The points of one rank: ``units`` above 0, no two alike, ``speeds`` in units a second; oldest first.

    ValueError for anything else.
    """

    units: tuple[int, ...] = ()
    speeds: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if len(self.units) != len(self.speeds):
            found = f"found {len(self.speeds)}"
            raise ValueError(f"expected a speed for each of {len(self.units)} points, {found}")
        ordered = sorted(self.units)
        if ordered and (ordered[0] < 1 or any(a == b for a, b in pairwise(ordered))):
            raise ValueError(f"expected numbers of units above 0, each once, found {list(self.units)}")
        if any(not (isfinite(speed) and speed > 0) for speed in self.speeds):
            raise ValueError(f"expected finite speeds above 0, found {list(self.speeds)}")


class PointTable:
    """The points of ``ranks`` ranks.

    ``units`` and ``speeds`` have a row for each rank, ordered by units, of ``counts`` points, filled up with
    inf and NaN. ``last`` is the speed measured last, NaN for a rank without any.
    """

    def __init__(self, ranks: int) -> None:
        if ranks < 1:
            raise ValueError(f"expected at least 1 rank, found {ranks}")
        self.units: Floats = np.full((ranks, _FIRST_ROOM), np.inf)
        self.speeds: Floats = np.full((ranks, _FIRST_ROOM), np.nan)
        self._ages: NDArray[np.int64] = np.full((ranks, _FIRST_ROOM), -1, dtype=np.int64)
        self.counts: NDArray[np.int64] = np.zeros(ranks, dtype=np.int64)
        self.last: Floats = np.full(ranks, np.nan)
        self._clock = 0

    @classmethod
    def of(cls, points: Sequence[SpeedPoints]) -> PointTable:
        """A table of points measured before, one `SpeedPoints` for each rank."""
        table = cls(len(points))
        for k in range(max(len(known.units) for known in points)):
            held = np.array([k < len(known.units) for known in points])
            units = [known.units[k] if k < len(known.units) else 0 for known in points]
            speeds = [known.speeds[k] if k < len(known.speeds) else np.nan for known in points]
            table._take(held, np.array(units, dtype=np.float64), np.array(speeds))
        return table

    def points(self) -> tuple[SpeedPoints, ...]:
        """The points of each rank, as measured."""
        rows = (np.argsort(ages[:count]) for ages, count in zip(self._ages, self.counts, strict=True))
        return tuple(
            SpeedPoints(tuple(int(d) for d in units[order]), tuple(speeds[order].tolist()))
            for units, speeds, order in zip(self.units, self.speeds, rows, strict=True)
        )

    def add(self, units: ArrayLike, seconds: ArrayLike) -> bool:
        """Add the units and seconds of a pass, one of each for each rank; whether a rank's speed drifted.

        ValueError for numbers that are negative or not finite, or not one for each rank.
        """
        d, t = self._checked("units", units), self._checked("seconds", seconds)
        measured = (d > 0) & (t > 0)
        speed = np.divide(d, t, out=np.full(len(d), np.nan), where=measured)
        return self._take(measured & np.isfinite(speed) & (speed > 0), d, speed)

    def _take(self, measured: NDArray[np.bool_], d: Floats, speed: Floats) -> bool:
        self._clock += 1
        self.last = np.where(measured, speed, self.last)
        again = measured[:, None] & (self.units == d[:, None])
        known = again.any(axis=1)
        drifted = self._rescale(again, known, speed)
        self.speeds = np.where(again, speed[:, None], self.speeds)
        self._ages = np.where(again, self._clock, self._ages)
        if (measured & ~known).any():
            self._insert(measured & ~known, d, speed)
        return drifted

    def _rescale(self, again: NDArray[np.bool_], known: NDArray[np.bool_], speed: Floats) -> bool:
        """Scale all speeds of a rank whose speed at the same d has drifted; whether there is such a rank."""
        if not known.any():
            return False
        before = self.speeds[np.arange(len(known)), np.argmax(again, axis=1)]
        ratio = np.where(known, speed / before, 1.0)
        drifted = (ratio > DRIFT) | (ratio < 1 / DRIFT)
        if drifted.any():
            self.speeds = self.speeds * np.where(drifted, ratio, 1.0)[:, None]
        return bool(drifted.any())

    def _insert(self, which: NDArray[np.bool_], d: Floats, speed: Floats) -> None:
        """Insert a new point for each rank in ``which``, in order of units."""
        self._make_room(which)
        columns = np.arange(self.units.shape[1])
        place = (self.units < d[:, None]).sum(axis=1)
        place = np.where(which, place, len(columns))[:, None]
        for name, value in (("units", d), ("speeds", speed), ("_ages", np.full(len(d), self._clock))):
            old = getattr(self, name)
            moved = np.concatenate((old[:, :1], old[:, :-1]), axis=1)
            behind = np.where(columns == place, value[:, None], moved)
            setattr(self, name, np.where(columns < place, old, behind))
        self.counts = self.counts + which

    def _make_room(self, which: NDArray[np.bool_]) -> None:
        room = self.units.shape[1]
        full = which & (self.counts == room)
        if not full.any():
            return
        if room < MAX_POINTS:
            more = ((0, 0), (0, room))
            self.units = np.pad(self.units, more, constant_values=np.inf)
            self.speeds = np.pad(self.speeds, more, constant_values=np.nan)
            self._ages = np.pad(self._ages, more, constant_values=-1)
            return
        for rank in np.flatnonzero(full):
            oldest = int(np.argmin(self._ages[rank]))
            for table, nothing in ((self.units, np.inf), (self.speeds, np.nan), (self._ages, -1)):
                table[rank, oldest:-1] = table[rank, oldest + 1 :]
                table[rank, -1] = nothing
            self.counts[rank] -= 1

    def _checked(self, what: str, values: ArrayLike) -> Floats:
        found = np.asarray(values, dtype=np.float64)
        if found.shape != self.counts.shape or not (np.isfinite(found) & (found >= 0)).all():
            raise ValueError(f"expected {len(self.counts)} {what} of 0 or more, one per rank; found {found}")
        return found


# Measured points as JSON: an object for each rank, ``{"units": [..], "units_per_s": [..]}``, oldest first.
#
# The caller records to which program, loop, hosts and array shapes they belong. Any model may be made of them
# later, since the measurements themselves are kept.

_UNITS, _SPEEDS = "units", "units_per_s"

#: Larger numbers cannot be counts: doubles do not tell them apart.
_MAX_UNITS = 2**53


def encode(points: Sequence[SpeedPoints]) -> list[dict[str, list[int] | list[float]]]:
    """The points of all ranks, speeds to six digits: no clock has more."""
    rounded = ([float(f"{speed:.6g}") for speed in known.speeds] for known in points)
    return [
        {_UNITS: list(known.units), _SPEEDS: speeds} for known, speeds in zip(points, rounded, strict=True)
    ]


def decode(value: object, ranks: int) -> tuple[SpeedPoints, ...]:
    """The points of ``ranks`` ranks; OptionError, with what was expected and found, for anything else."""
    if not isinstance(value, list) or len(value) != ranks:
        found = f"those of {len(value)}" if isinstance(value, list) else reprlib.repr(value)
        raise OptionError(f"learned speeds: expected a list with the points of {ranks} ranks; found {found}")
    return tuple(_of_rank(rank, entry) for rank, entry in enumerate(value))


def _of_rank(rank: int, entry: object) -> SpeedPoints:
    if not isinstance(entry, dict) or entry.keys() != {_UNITS, _SPEEDS}:
        raise _malformed(rank, f'{{"{_UNITS}": [..], "{_SPEEDS}": [..]}}', reprlib.repr(entry))
    units, speeds = entry[_UNITS], entry[_SPEEDS]
    if not isinstance(units, list) or any(type(d) is not int or d > _MAX_UNITS for d in units):
        raise _malformed(rank, f"a list of whole numbers of {_UNITS}", reprlib.repr(units))
    if not isinstance(speeds, list) or any(type(s) not in (int, float) for s in speeds):
        raise _malformed(rank, "a list of speeds", reprlib.repr(speeds))
    if len(units) > MAX_POINTS:
        raise _malformed(rank, f"at most {MAX_POINTS} points", str(len(units)))
    try:
        return SpeedPoints(tuple(units), tuple(map(float, speeds)))
    except (ValueError, OverflowError) as error:
        raise OptionError(f"learned speeds of rank {rank}: {error}") from error


def _malformed(rank: int, expected: str, found: str) -> OptionError:
    return OptionError(f"learned speeds of rank {rank}: expected {expected}; found {found}")


class ModelKind(Enum):
    """How a speed function is made of the points (Clarke et al., sections 3, 5.2, 6.2).

    The values are those of the clause ``model`` of an annotation ``iterate``.
    """

    CONSTANT = "constant"  # the speed measured last, whatever the size: the baseline
    PIECEWISE = "piecewise"  # linear between the points, its shape repaired where lines would meet it twice
    AKIMA = "akima"  # Akima's spline, of any shape
