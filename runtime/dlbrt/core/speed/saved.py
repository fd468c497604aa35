"""Measured points as JSON: an object for each rank, ``{"units": [..], "units_per_s": [..]}``, oldest first.

To what program, loop, hosts and array shapes they belong is said by whoever keeps them. Any model may be made
of them later, since what is kept is what was measured.
"""

from __future__ import annotations

import reprlib
from collections.abc import Sequence

from dlbrt.contract import OptionError
from dlbrt.core.speed.points import MAX_POINTS, SpeedPoints

__all__ = ["decode", "encode"]

_UNITS, _SPEEDS = "units", "units_per_s"

#: Larger numbers are no counts: doubles do not tell them apart.
_MAX_UNITS = 2**53


def encode(points: Sequence[SpeedPoints]) -> list[dict[str, list[int] | list[float]]]:
    """The points of all ranks, speeds to six digits: no clock has more."""
    return [
        {_UNITS: list(known.units), _SPEEDS: [float(f"{speed:.6g}") for speed in known.speeds]}
        for known in points
    ]


def decode(value: object, ranks: int) -> tuple[SpeedPoints, ...]:
    """The points of ``ranks`` ranks; OptionError with what was expected and found where it is not that."""
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
