"""Measurements kept for the next run of a program: speeds of ranks and densities of loops, as JSON.

An entry belongs to a loop (its place in the source and a hash of its kernel) on a list of hosts, one per
rank: relative speeds hold for these processors and this computation only (Clarke, Lastovetsky, Rychkov,
section 1: a processor's speed is a function of the application). So a loop that was edited, or runs on other
hosts, begins without measurements. Densities are kept for a few numbers of iterations; speeds as functions of
the rows held, which routines measure, for a few shapes of rows. Files are treated as `dlbrt.observe.files`
says.
"""

from __future__ import annotations

import hashlib
import os
import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from math import isfinite
from pathlib import Path
from typing import Any

from dlbrt.contract import ENVIRONMENT, OptionError
from dlbrt.observe import files
from dlbrt.observe.linemap import line_map
from dlbrt.partition.density import Density
from dlbrt.records import dataclass
from dlbrt.speed.points import SpeedPoints, decode, encode

#: Since version 2 every loop has `seconds` and `curves`.
_FORMAT, _VERSION = "dlb learned", 2

#: Bounds on what is kept: entries in a file, densities and curves in an entry, groups in a density.
_MAX_ENTRIES = 256
_MAX_DENSITIES = 4
_MAX_CURVES = 8
_MAX_GROUPS = 4096
_MAX_ITERATIONS = 2**62

#: Speeds that differ by a larger factor from run to run say nothing of the next one.
_MOST_SPREAD = 2.0


@dataclass(frozen=True, slots=True)
class LoopKey:
    """A loop: its place in the source (``prog.py:12``), a hash of its kernel, and the host of each rank."""

    source: str
    kernel: str
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MeasuredSpeeds:
    """Each rank's speed as a function of what it holds, for rows of one ``form`` (their shapes and types)."""

    form: str
    points: tuple[SpeedPoints, ...]


@dataclass(frozen=True, slots=True)
class LoopMeasurements:
    """What is known of one loop: a relative speed for each rank, or none at all, and densities in seconds.

    There is one density for each number of iterations, the newest first. With speeds, densities are in
    seconds of a rank of speed 1, or of a mean rank; without them, in seconds of the rank that measured, whose
    speed they contain. ``seconds`` is how long each rank computed while speeds were measured, or empty.
    ``date`` is the day of the measurement, ``spread`` the factor by which a rank's speed typically differed
    from run to run of the loop; empty and None where they are not known.
    ValueError for speeds that are not above 0, for negative seconds, or if there is not one per rank.
    """

    key: LoopKey
    speeds: tuple[float, ...] = ()
    densities: tuple[Density, ...] = ()
    seconds: tuple[float, ...] = ()
    curves: tuple[MeasuredSpeeds, ...] = ()
    date: str = ""
    spread: float | None = None

    @property
    def disturbed(self) -> bool:
        """Whether speeds changed so much that a later run would be misled.

        Where they are known as functions of what ranks hold they may change with that.
        """
        return not self.curves and self.spread is not None and self.spread > _MOST_SPREAD

    @property
    def disturbance(self) -> str:
        """Why they are not kept if they are disturbed, in a sentence."""
        differ = f"the ranks' relative speeds differ by a factor of {self.spread:.2g} from run to run"
        why = "other programs run on these hosts, or an iteration costs more in some runs"
        return f"{differ}, so they are not kept: {why}"

    def __post_init__(self) -> None:
        for what, found in (("speeds", self.speeds), ("times", self.seconds)):
            if found and len(found) != len(self.key.hosts):
                raise ValueError(f"expected {len(self.key.hosts)} {what}, one per rank; found {len(found)}")
        for speed in self.speeds:
            if not (isfinite(speed) and speed > 0):
                raise ValueError(f"expected speeds above 0, found {speed}")
        for taken in self.seconds:
            if not (isfinite(taken) and taken >= 0):
                raise ValueError(f"expected times of 0 s or more, found {taken}")

    def curve(self, form: str) -> tuple[SpeedPoints, ...]:
        """Each rank's measured points for rows of that form; empty if nothing is known."""
        return next((found.points for found in self.curves if found.form == form), ())

    def density(self, n: int) -> Density | None:
        """The density measured for n iterations."""
        return next((found for found in self.densities if found.n == n), None)

    def after(self, older: LoopMeasurements) -> LoopMeasurements:
        """These measurements, completed by older ones of the same loop.

        Densities either contain a rank's speed or are to be used with speeds. The two are not mixed: older
        densities of the other kind are dropped.
        """
        forms = {curve.form for curve in self.curves}
        kept_curves = (curve for curve in older.curves if curve.form not in forms)
        curves = (*self.curves, *kept_curves)[:_MAX_CURVES]
        if not (self.speeds or self.densities):
            return replace(older, curves=curves) if self.curves else older
        known_sizes = {density.n for density in self.densities}
        alike = older.densities if bool(self.speeds) == bool(older.speeds) else ()
        kept = (density for density in alike if density.n not in known_sizes)
        return replace(self, densities=(*self.densities, *kept)[:_MAX_DENSITIES], curves=curves)


@dataclass(frozen=True, slots=True)
class MeasurementStore:
    """All that is known of a program, the newest measurements first."""

    entries: tuple[LoopMeasurements, ...] = field(default=())

    def of(self, key: LoopKey) -> LoopMeasurements | None:
        """What is known of a loop."""
        return next((measurements for measurements in self.entries if measurements.key == key), None)

    def after(self, entries: Iterable[LoopMeasurements]) -> MeasurementStore:
        """The store with what another run has measured, the last entry being the newest."""
        known = {measurements.key: measurements for measurements in reversed(self.entries)}
        for measurements in entries:
            older = known.pop(measurements.key, None)
            known[measurements.key] = measurements.after(older) if older else measurements
        return MeasurementStore(tuple(reversed(known.values()))[:_MAX_ENTRIES])


def path_for(named: str | None, last: bool, program: str, environ: Mapping[str, str]) -> Path | None:
    """The file for a run's measurements: the named one, else the default if ``last``, else None.

    Errors as `default_path`.
    """
    if named:
        return Path(os.path.abspath(named))
    return default_path(program, environ) if last else None


def default_path(program: str, environ: Mapping[str, str], windows: bool = os.name == "nt") -> Path:
    """The file for a program's measurements in the user's cache directory, by the program's path.

    ``program`` is the source or the file generated from it, which count as one program. OptionError if the
    user has no cache directory.
    """
    mapped = line_map(program)
    place = os.path.abspath(mapped.source if mapped else program)
    digest = hashlib.sha256(os.fsencode(place)).hexdigest()[:16]
    if (directory := files.cache_directory(environ, windows)) is None:
        raise OptionError(f"expected a home directory, to keep what is learned in; found none: give {_NAMED}")
    return directory / f"{Path(place).stem}-{digest}.json"


_NAMED = f"{ENVIRONMENT['learned']} (--learned)"

#: What writes the file that an option names.
_WRITERS = {"learned": "a run of the program or `dlbc calibrate`", "model": "`--model`"}


def read(path: str | os.PathLike[str], option: str = "learned") -> MeasurementStore:
    """What a file holds; an empty store if it is empty or does not exist.

    OptionError, in terms of the ``option`` that named it (``learned`` or ``model``), if it is refused.
    """
    place = Path(path)
    try:
        return files.load(place, _decoded, MeasurementStore())
    except files.RefusedError as error:
        raise _refused(place, error, option) from error


def update(
    path: str | os.PathLike[str], entries: Iterable[LoopMeasurements], option: str = "learned"
) -> None:
    """Add what a run has measured to what the file holds now, which another run may have changed.

    The last entry counts as the newest. A missing directory is made. OSError if the file cannot be written,
    OptionError as `read`.
    """
    place = Path(path)
    known = read(place, option).after(entries)
    place.parent.mkdir(parents=True, exist_ok=True)
    files.write(place, _encoded(known))


def _refused(place: Path, error: files.RefusedError, option: str) -> OptionError:
    expected = f"{ENVIRONMENT[option]} (--{option}): expected a file that {_WRITERS[option]} has written"
    advice = "remove it, or name another" if error.ours else "name another"
    return OptionError(f"{expected}; found {str(place)!r}, {error}: {advice}")


def _encoded(learned: MeasurementStore) -> dict[str, object]:
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "loops": [
            {
                "source": measurements.key.source,
                "kernel": measurements.key.kernel,
                "hosts": list(measurements.key.hosts),
                "speeds": [_short(speed) for speed in measurements.speeds],
                "seconds": [_short(taken) for taken in measurements.seconds],
                "date": measurements.date,
                "spread": None if measurements.spread is None else _short(measurements.spread),
                "densities": [_encoded_density(density) for density in measurements.densities],
                "curves": [
                    {"form": curve.form, "points": encode(curve.points)} for curve in measurements.curves
                ],
            }
            for measurements in learned.entries
        ],
    }


def _encoded_density(density: Density) -> dict[str, object]:
    """Relative work by groups, their mean being 1, and the seconds of all of them."""
    coarse = density.coarser(-(-len(density.work) // _MAX_GROUPS))
    total_s = float(coarse.prefix[-1])
    mean_s = total_s / len(coarse.work)
    work = [_short(part / mean_s) for part in coarse.work.tolist()]
    return {"n": coarse.n, "group": coarse.group, "total_s": _short(total_s), "work": work}


def _short(value: float) -> float:
    """Six digits, since no clock has more."""
    return float(f"{value:.6g}")


def _decoded(document: Any) -> MeasurementStore:
    loops = files.check_format(document, _FORMAT, _VERSION)["loops"]
    return MeasurementStore(tuple(_decoded_measurements(entry) for entry in loops))


def _decoded_measurements(entry: dict[str, Any]) -> LoopMeasurements:
    key = LoopKey(
        files.text(entry["source"]), files.text(entry["kernel"]), tuple(map(files.text, entry["hosts"]))
    )
    densities = tuple(_decoded_density(density) for density in entry["densities"])
    seconds = tuple(map(files.number, entry["seconds"]))
    curves = tuple(
        MeasuredSpeeds(files.text(curve["form"]), decode(curve["points"], len(key.hosts)))
        for curve in entry["curves"]
    )
    # Files from before these two were kept do not have them.
    date, spread = files.text(entry.get("date", "")), entry.get("spread")
    speeds, spread = (
        tuple(map(files.number, entry["speeds"])),
        None if spread is None else files.number(spread),
    )
    return LoopMeasurements(key, speeds, densities, seconds, curves, date, spread)


def _decoded_density(entry: dict[str, Any]) -> Density:
    n, group, work = entry["n"], entry["group"], [files.number(part) for part in entry["work"]]
    if type(n) is not int or type(group) is not int or not 0 < n < _MAX_ITERATIONS:
        found = f"{reprlib.repr(n)} by groups of {reprlib.repr(group)}"
        raise ValueError(f"expected whole numbers of iterations, found {found}")
    whole = Density(n, group, work)  # type: ignore[arg-type]
    return Density(n, group, whole.work * (files.number(entry["total_s"]) / float(whole.prefix[-1])))
