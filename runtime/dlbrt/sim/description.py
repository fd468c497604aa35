"""The description of a machine: processors on hosts, the network between them, and their load.

A description is for any number of ranks up to that of its processors, and becomes a `Machine` of that many
ranks.

A network with only latency L and bandwidth B given gets patterns like those of today's libraries (trees of
messages and recursive doubling; Thakur, Rabenseifner, Gropp, 2005): one-to-all among P ranks takes ceil(log2
P) L; all-to-one and all-to-all take that and the time of the others' profiles at B. Polynomials are fitted to
these for 2, 4, .. P ranks, as to measured times (Zaki, Li, Parthasarathy, section 1.5.1).

`read_machine` makes a description of the tables of a TOML file; `docs/simulate.md` lists the keys. It
collects all errors, each with the path of the key, what was expected there and what was found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from itertools import repeat
from sys import float_info
from typing import Any, TypeVar

import numpy as np

from dlbrt.balance.messages import Profile
from dlbrt.contract import OptionError, nearest
from dlbrt.emulation import WIDTH, Cliff
from dlbrt.predict.groups import GroupSpec
from dlbrt.predict.network import PATTERNS, Network, Pattern, fit
from dlbrt.records import dataclass
from dlbrt.sim.machine import Machine, load_for

#: Bytes of a profile.
_PROFILE_BYTES = 8 * Profile.width()

_DEFAULT = Network.default()


class DescriptionError(ValueError):
    """A description of no possible machine; a line for each error."""


@dataclass(frozen=True, slots=True)
class ProcessorDescription:
    """A processor of relative ``speed`` above 0 on a ``host``; beyond its ``cliff`` it is slower."""

    speed: float = 1.0
    host: str = "host"
    cliff: Cliff | None = None


@dataclass(frozen=True, slots=True)
class NetworkDescription:
    """A network before the number of ranks is known; ``patterns`` are the given ones, by name."""

    latency_s: float = _DEFAULT.latency_s
    bandwidth: float = _DEFAULT.bandwidth
    switch_s: float = 0.0
    patterns: Mapping[str, Pattern] = field(default_factory=dict)

    @classmethod
    def of(cls, network: Network) -> NetworkDescription:
        """The description of a known network."""
        patterns = {name: getattr(network, name) for name in PATTERNS}
        return cls(network.latency_s, network.bandwidth, network.switch_s, patterns)

    def among(self, ranks: int) -> Network:
        """The network among ``ranks`` ranks."""
        one, gather, exchange = (self.patterns.get(name) or self._derived(name, ranks) for name in PATTERNS)
        return Network(self.latency_s, self.bandwidth, one, gather, exchange, self.switch_s)

    def _derived(self, name: str, ranks: int) -> Pattern:
        each_s = 0.0 if name == "one_to_all" else _PROFILE_BYTES / self.bandwidth
        counts = [2 << k for k in range(max(1, (ranks - 1).bit_length()))]
        return fit((p, (p - 1).bit_length() * self.latency_s + (p - 1) * each_s) for p in counts)


@dataclass(frozen=True, slots=True)
class MachineDescription:
    """A machine of ``processors``, rank r on the r-th; () stands for as many as there are ranks.

    ``load`` is in the form of `parse_load`, for all processors.
    """

    processors: tuple[ProcessorDescription, ...] = ()
    network: NetworkDescription = field(default_factory=NetworkDescription)
    load: str = "none"

    def machine(self, ranks: int, group: GroupSpec | None = None, size: int | None = None) -> Machine:
        """The machine of the first ``ranks`` processors, in groups as by `GroupSpec.formed`.

        DescriptionError if there are fewer processors; OptionError for a load that does not fit their number.
        """
        if self.processors and ranks > len(self.processors):
            limit = f"at most {len(self.processors)} ranks, as many as the machine has processors"
            raise DescriptionError(f"expected {limit}; found {ranks}")
        used = self.processors[:ranks] or (ProcessorDescription(),) * ranks
        cliffs = tuple(each.cliff for each in used)
        load = load_for(self.load, len(self.processors) or ranks)
        group = group or GroupSpec()
        return Machine(
            speeds=tuple(each.speed for each in used),
            network=self.network.among(ranks),
            load=replace(load, levels=load.levels[:ranks], cliffs=cliffs if any(cliffs) else ()),
            groups=group.formed([each.host for each in used], (), size),
            rules=group.rules,
        )


# Tables of a TOML file. Errors are collected, each with the path of its key.

_T = TypeVar("_T")

#: How many characters of a value messages show.
_MAX_SHOWN = 40


@dataclass(frozen=True, slots=True)
class TomlTable:
    """A table at ``path``, which is empty for the outermost table; its errors are added to ``errors``."""

    path: str
    found: Mapping[str, Any]
    errors: list[str]

    def knows(self, *keys: str) -> None:
        """Report all other keys as errors."""
        for key in self.found:
            if key not in keys:
                expected = f"expected one of {', '.join(keys)}{nearest(key, keys)}"
                self.errors.append(f"{self.at(key)}: unknown key; {expected}")

    def take(self, key: str, expected: str, read: Callable[[Any], _T | None]) -> _T | None:
        """The value of a key as read by ``read``; None if the key is absent or its value not as expected."""
        if key not in self.found:
            return None
        value = read(self.found[key])
        if value is None:
            self.wrong(key, expected)
        return value

    def needs(self, key: str, expected: str, read: Callable[[Any], _T | None]) -> _T | None:
        """As `take`; an absent key is an error as well."""
        if key not in self.found:
            self.errors.append(f"{self.at(key)}: expected {expected}; found nothing")
        return self.take(key, expected, read)

    def wrong(self, key: str, expected: str) -> None:
        """Report what was expected of a key."""
        self._error(self.at(key), expected, self.found[key])

    def listed(self, key: str, expected: str, read: Callable[[Any], _T | None]) -> tuple[_T, ...] | None:
        """The values of a list as read by ``read``; None if one is not as expected: the first is reported."""
        found: list[_T] = []
        for place, given in enumerate(self.found[key]):
            if (value := read(given)) is None:
                self._error(f"{self.at(key)}[{place}]", expected, given)
                return None
            found.append(value)
        return tuple(found)

    def inner(self, key: str) -> TomlTable | None:
        """The table under a key, if there is one."""
        found = self.take(key, "a table", lambda value: value if isinstance(value, dict) else None)
        return None if found is None else TomlTable(self.at(key), found, self.errors)

    def each(self, key: str) -> list[TomlTable]:
        """The tables of an array of tables."""
        found = self.take(key, f"tables, each under [[{self.at(key)}]]", _tables) or []
        paths = (f"{self.at(key)}[{place}]" for place in range(len(found)))
        return [TomlTable(path, table, self.errors) for path, table in zip(paths, found, strict=True)]

    def at(self, key: str) -> str:
        """The path of a key."""
        return f"{self.path}.{key}" if self.path else key

    def _error(self, path: str, expected: str, found: object) -> None:
        shown = repr(found)
        shown = shown if len(shown) <= _MAX_SHOWN else shown[: _MAX_SHOWN - 2] + ".."
        self.errors.append(f"{path}: expected {expected}; found {shown}")


def text(value: Any) -> str | None:
    """A text that is not blank."""
    return value if isinstance(value, str) and value.strip() else None


def count(least: int, most: int) -> Callable[[Any], int | None]:
    """Whole numbers from ``least`` to ``most``."""
    return lambda value: value if type(value) is int and least <= value <= most else None


def number(least: float, most: float) -> Callable[[Any], float | None]:
    """Numbers from ``least`` to ``most``."""

    def read(value: Any) -> float | None:
        return float(value) if type(value) in (int, float) and least <= value <= most else None

    return read


def _tables(value: Any) -> list[dict[str, Any]] | None:
    tables = isinstance(value, list) and value and all(isinstance(each, dict) for each in value)
    return value if tables else None


#: The most processors of a machine.
MAX_RANKS = 1 << 22

#: All other numbers lie between these, so that results computed from them stay finite.
_LEAST, _MOST = 1e-15, 1e15

_COUNT = f"a whole number from 1 to {MAX_RANKS}"
_PROCESSORS = f"{_COUNT}, or a list of speeds above 0"
_RANGE = f"above 0, from {_LEAST:g} to {_MOST:g}"
_SECONDS = f"seconds, from 0 to {_MOST:g}"
_COEFFICIENTS = "a list of finite numbers, the coefficients of 1, P, P^2, .."

_counted, _positive, _not_negative = count(1, MAX_RANKS), number(_LEAST, _MOST), number(0, _MOST)
_finite = number(-float_info.max, float_info.max)


def read_machine(found: Mapping[str, Any]) -> MachineDescription:
    """The machine that a mapping describes; DescriptionError, with a line for each error."""
    errors: list[str] = []
    top = TomlTable("", found, errors)
    top.knows("processors", "speed", "cliff", "hosts", "network", "load")
    processors = _processors(top)
    network = _network(top.inner("network"), len(processors))
    load = top.take("load", "a load as --load takes it", text) or "none"
    if not errors:
        try:
            load_for(load, len(processors))
        except OptionError as error:
            errors.append(f"load: {error}")
    if errors:
        raise DescriptionError("\n".join(errors))
    return MachineDescription(processors, network, load)


def _processors(top: TomlTable) -> tuple[ProcessorDescription, ...]:
    if "hosts" not in top.found:
        if "processors" not in top.found and not top.errors:
            top.errors.append(f"processors: expected {_PROCESSORS}, or tables [[hosts]]; found nothing")
        return tuple(_host(top, "host"))
    for key in ("processors", "speed", "cliff"):
        if key in top.found:
            top.wrong(key, "it in the tables [[hosts]], which are there")
    made: list[ProcessorDescription] = []
    hosts = 0
    for table in top.each("hosts"):
        table.knows("count", "processors", "speed", "cliff")
        like = table.take("count", _COUNT, _counted) or 1
        each = _host(table, "")
        if len(made) + like * len(each) > MAX_RANKS:
            top.errors.append(f"hosts: expected at most {MAX_RANKS} processors in all")
            break
        for _ in repeat(None, like):
            made += [ProcessorDescription(p.speed, f"host {hosts}", p.cliff) for p in each]
            hosts += 1
    return tuple(made)


def _host(table: TomlTable, name: str) -> list[ProcessorDescription]:
    """The processors of one host: a number of equal ones, or the speed of each."""
    cliff, given = _cliff(table.inner("cliff")), table.found.get("processors", 1)
    speed = table.take("speed", f"a speed {_RANGE}", _positive)
    if isinstance(given, list):
        if not given:
            table.wrong("processors", _PROCESSORS)
        if "speed" in table.found:
            table.wrong("speed", "none beside a list of speeds")
        speeds = table.listed("processors", f"a speed {_RANGE}", _positive)
        return [ProcessorDescription(each, name, cliff) for each in speeds or ()]
    alike = _counted(given)
    if alike is None:
        table.wrong("processors", _PROCESSORS)
    return [ProcessorDescription(speed or 1.0, name, cliff)] * (alike or 1)


def _cliff(table: TomlTable | None) -> Cliff | None:
    if table is None:
        return None
    table.knows("units", "factor", "width")
    units = table.needs("units", f"a number of units, from 1 to {_MOST:g}", number(1, _MOST))
    factor = table.needs("factor", f"how many times slower, from 1 to {_MOST:g}", number(1, _MOST))
    width = table.take("width", f"a part of the units {_RANGE}", _positive)
    return Cliff(units, factor, width or WIDTH) if units and factor else None


def _network(table: TomlTable | None, ranks: int) -> NetworkDescription:
    if table is None:
        return NetworkDescription()
    table.knows("latency_s", "bandwidth", "switch_s", *PATTERNS)
    latency_s = table.take("latency_s", f"seconds {_RANGE}", _positive)
    bandwidth = table.take("bandwidth", f"bytes a second {_RANGE}", _positive)
    switch_s = table.take("switch_s", _SECONDS, _not_negative)
    given = {name: _pattern(table, name, ranks) for name in PATTERNS if name in table.found}
    patterns = {name: pattern for name, pattern in given.items() if pattern is not None}
    latency_s, bandwidth = latency_s or _DEFAULT.latency_s, bandwidth or _DEFAULT.bandwidth
    return NetworkDescription(latency_s, bandwidth, switch_s or 0.0, patterns)


def _pattern(network: TomlTable, name: str, ranks: int) -> Pattern | None:
    """A pattern: its coefficients, or a table stored by `dlbc calibrate`."""
    if isinstance(network.found[name], list):
        coefficients = _coefficients(network, name)
        found = None if coefficients is None else Pattern(coefficients)
    else:
        found = _stored(network.inner(name))
    if found is not None and (negative := _negative(found, ranks)):
        advice = "change the coefficients, or give a table with least_s"
        wanted = f"times of 0 s or more for 2 to {ranks} ranks"
        network.errors.append(f"{network.at(name)}: expected {wanted}; found {negative}: {advice}")
    return found


def _stored(table: TomlTable | None) -> Pattern | None:
    if table is None:
        return None
    table.knows("coefficients", "most", "least_s")
    coefficients = _coefficients(table, "coefficients")
    most = table.take("most", "a number of ranks, 0 or more", count(0, MAX_RANKS))
    least_s = table.take("least_s", _SECONDS, _not_negative)
    return None if coefficients is None else Pattern(coefficients, most or 0, least_s or 0.0)


def _coefficients(table: TomlTable, key: str) -> tuple[float, ...] | None:
    given = table.needs(key, _COEFFICIENTS, lambda value: value if isinstance(value, list) else None)
    if given == []:
        table.wrong(key, _COEFFICIENTS)
    return table.listed(key, "a finite number", _finite) if given else None


def _negative(pattern: Pattern, ranks: int) -> str:
    """The first time below 0 for 2 to ``ranks`` ranks, in words; empty if there is none.

    Beyond the number of ranks that it was measured with, a pattern takes no less than with that number; for a
    pattern with a least time the polynomial may have any values.
    """
    if pattern.least_s > 0 or min(pattern.coefficients) >= 0:
        return ""
    counts = np.arange(2, min(ranks, pattern.most if pattern.most > 1 else ranks) + 1, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        seconds = np.polynomial.polynomial.polyval(counts, pattern.coefficients)
    below = np.flatnonzero(seconds < 0)
    return f"{seconds[below[0]]:g} s for {counts[below[0]]:g}" if below.size else ""
