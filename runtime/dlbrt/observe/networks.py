"""Measured networks, and the file in which they are kept.

Zaki, Li, Parthasarathy, section 1.5.1: the network is characterized off-line by latency, bandwidth and the
times of three communication patterns, measured for 2 to P ranks and fitted by polynomials (figure 1.6). A
calibration belongs to a site: the number of ranks on each host, and the MPI library. It serves fewer ranks on
the same hosts too, since it was measured for them. Ranks of one host communicate faster than hosts do, so
each host with several ranks has a network of its own. All is pure except `read` and `update`.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from math import inf, isfinite
from pathlib import Path
from typing import Any

from dlbrt.contract import OptionError
from dlbrt.observe import files
from dlbrt.predict.network import PATTERNS, Network, Networks, fit
from dlbrt.records import dataclass

_FORMAT, _VERSION = "dlb networks", 2

#: The largest number of calibrations that a file keeps.
_MAX_CALIBRATIONS = 64

_NAMES = {"one_to_all": "one-to-all", "all_to_one": "all-to-one", "all_to_all": "all-to-all"}


@dataclass(frozen=True, slots=True)
class NetworkSite:
    """Where a network was measured: the number of ranks of each host, by name, and the MPI library."""

    ranks: tuple[tuple[str, int], ...]
    mpi: str

    @classmethod
    def of(cls, hosts: Iterable[str], library: str) -> NetworkSite:
        """The site by the host of each rank, in any order, and the version text of the MPI library."""
        first = library.strip("\0 \n").splitlines()[:1]
        return cls(tuple(sorted(Counter(hosts).items())), " ".join("".join(first).split()))

    @property
    def size(self) -> int:
        """The number of ranks."""
        return sum(count for _, count in self.ranks)

    def serves(self, other: NetworkSite) -> bool:
        """Whether a calibration of this site holds for the other: same library and hosts, no more ranks."""
        here, there = dict(self.ranks), dict(other.ranks)
        same = self.mpi == other.mpi and here.keys() == there.keys()
        return same and all(here[host] >= count for host, count in there.items())


@dataclass(frozen=True, slots=True)
class PatternSamples:
    """Measured patterns: pairs of a number of ranks (2 or more) and seconds, in order."""

    one_to_all: tuple[tuple[int, float], ...]
    all_to_one: tuple[tuple[int, float], ...]
    all_to_all: tuple[tuple[int, float], ...]

    def network(self, latency_s: float, bandwidth: float, switch_s: float) -> Network:
        """The network with polynomials fitted to the patterns; errors as `fit` and `Network`."""
        one, gather, exchange = (fit(getattr(self, name)) for name in PATTERNS)
        return Network(latency_s, bandwidth, one, gather, exchange, switch_s)


@dataclass(frozen=True, slots=True)
class Calibration:
    """A site, its networks, and the samples that the patterns among all ranks were fitted to.

    ``date`` is the day of the measurement, ``spread`` the factor by which its repetitions differ at most;
    empty and None where they are not known.
    """

    site: NetworkSite
    networks: Networks
    samples: PatternSamples
    date: str = ""
    spread: float | None = None


def settled(repeated: Sequence[Calibration], date: str) -> Calibration:
    """Of several measurements of one site that with the middle time of an exchange, and their spread.

    Latency, bandwidth and the exchange among all ranks are compared: what else is measured follows them.
    """
    figures = [
        (each.networks.whole.latency_s, each.networks.whole.bandwidth, _exchange_s(each)) for each in repeated
    ]
    spread = max(_factor(values) for values in zip(*figures, strict=True))
    return replace(sorted(repeated, key=_exchange_s)[len(repeated) // 2], date=date, spread=spread)


def _exchange_s(calibration: Calibration) -> float:
    return calibration.samples.all_to_all[-1][1]


def _factor(values: Sequence[float]) -> float:
    least, most = min(values), max(values)
    return most / least if least else inf if most else 1.0


def find(calibrations: Iterable[Calibration], site: NetworkSite) -> Calibration | None:
    """The calibration with the fewest ranks that serves the site, the first one on a tie."""
    serving = (found for found in calibrations if found.site.serves(site))
    return min(serving, key=lambda found: found.site.size, default=None)


def table(calibration: Calibration) -> list[str]:
    """The calibration as a readable table: latency, bandwidth, each pattern as measured and as fitted."""
    whole, samples = calibration.networks.whole, calibration.samples
    places = ", ".join(f"{host}: {count}" for host, count in calibration.site.ranks)
    lines = [f"{calibration.site.size} ranks ({places}), {calibration.site.mpi}", *_figures(whole), ""]
    lines.append("ranks" + "".join(f"{_NAMES[name] + ' [us]':>20}  fitted" for name in PATTERNS))
    for index, (ranks, _) in enumerate(samples.all_to_all):
        cells = [f"{ranks:5}"]
        for name in PATTERNS:
            taken_s, fitted_s = getattr(samples, name)[index][1], getattr(whole, name).seconds(ranks)
            cells.append(f"{_us(taken_s):>20}{_us(fitted_s):>8}")
        lines.append("".join(cells))
    counts = dict(calibration.site.ranks)
    for host, network in calibration.networks.within:
        taken = ((_NAMES[name], getattr(network, name).seconds(counts[host])) for name in PATTERNS)
        lines += ["", f"among the {counts[host]} ranks of {host}:", *_figures(network)]
        lines.append(", ".join(f"{name} {_us(seconds)} us" for name, seconds in taken))
    if calibration.spread is not None:
        lines += ["", f"repetitions differ by a factor of {calibration.spread:.3g} at most"]
    return lines


def _figures(network: Network) -> list[str]:
    return [
        f"latency   {network.latency_s * 1e6:.3g} us",
        f"bandwidth {network.bandwidth / 1e6:.4g} MB/s",
        f"request   {network.switch_s * 1e6:.3g} us of the central balancer",
    ]


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:.1f}"


def default_path(environ: Mapping[str, str], windows: bool = os.name == "nt") -> Path | None:
    """The file in the user's cache directory; None where the user has no directory."""
    directory = files.cache_directory(environ, windows)
    return directory / files.NETWORKS if directory else None


def read(path: str | os.PathLike[str]) -> tuple[Calibration, ...]:
    """What a file holds, the newest first; empty if it does not exist. OptionError if it is refused."""
    try:
        return files.load(Path(path), _decoded, ())
    except files.RefusedError as error:
        expected = "expected networks that `dlbc calibrate` has measured"
        advice = "remove it, and calibrate again"
        raise OptionError(f"{expected}; found {str(path)!r}, {error}: {advice}") from error


def update(path: str | os.PathLike[str], calibration: Calibration) -> None:
    """Add a calibration to what the file holds now, in place of an older one of the same site.

    A missing directory is made. OSError if the file cannot be written, OptionError as `read`.
    """
    place = Path(path)
    older = (found for found in read(place) if found.site != calibration.site)
    kept = (calibration, *older)[:_MAX_CALIBRATIONS]
    place.parent.mkdir(parents=True, exist_ok=True)
    document = {"format": _FORMAT, "version": _VERSION, "networks": list(map(_encoded, kept))}
    files.write(place, document)


def to_json(calibration: Calibration) -> str:
    """One JSON object; `from_json` is its exact inverse."""
    return json.dumps(_encoded(calibration))


def from_json(content: str) -> Calibration:
    """What `to_json` wrote; ValueError, TypeError or KeyError for anything else."""
    return _decoded_one(json.loads(content))


def _encoded(calibration: Calibration) -> dict[str, object]:
    return {
        "hosts": dict(calibration.site.ranks),
        "mpi": calibration.site.mpi,
        "network": asdict(calibration.networks.whole),
        "within": {host: asdict(network) for host, network in calibration.networks.within},
        "samples": asdict(calibration.samples),
        "date": calibration.date,
        "spread": calibration.spread if calibration.spread is None or isfinite(calibration.spread) else None,
    }


def _decoded(document: Any) -> tuple[Calibration, ...]:
    return tuple(map(_decoded_one, files.check_format(document, _FORMAT, _VERSION)["networks"]))


def _decoded_one(entry: Any) -> Calibration:
    ranks = tuple(sorted((host, _count(count, 1)) for host, count in entry["hosts"].items()))
    within = tuple((host, _network(found)) for host, found in entry["within"].items())
    one, gather, exchange = (_decoded_samples(entry["samples"][name]) for name in PATTERNS)
    networks = Networks(_network(entry["network"]), within)
    # Files from before these two were kept do not have them.
    date, spread = files.text(entry.get("date", "")), entry.get("spread")
    site, samples = NetworkSite(ranks, files.text(entry["mpi"])), PatternSamples(one, gather, exchange)
    return Calibration(site, networks, samples, date, None if spread is None else files.number(spread))


def _network(found: Any) -> Network:
    return Network.from_json(json.dumps(found))


def _decoded_samples(pairs: Any) -> tuple[tuple[int, float], ...]:
    samples = tuple((_count(ranks, 2), files.number(seconds)) for ranks, seconds in pairs)
    if not samples or any(not (isfinite(seconds) and seconds >= 0) for _, seconds in samples):
        raise ValueError(f"expected samples of 0 s or more, found {samples[:4]}")
    return samples


def _count(value: Any, least: int) -> int:
    if type(value) is not int or value < least:
        raise ValueError(f"expected a whole number of {least} or more, found {value!r}")
    return value
