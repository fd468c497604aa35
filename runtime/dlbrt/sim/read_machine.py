"""From a mapping, as TOML gives it, to the machine that it describes; `docs/simulate.md` lists the keys.

It is read whole: all that is wrong is said at once, each with the path of the key, what was expected there
and what was found.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import repeat
from sys import float_info
from typing import Any

import numpy as np

from dlbrt.contract import OptionError
from dlbrt.core.model.network import PATTERNS, Pattern
from dlbrt.core.paging import WIDTH, Cliff
from dlbrt.sim.description import (
    DescriptionError,
    MachineDescription,
    NetworkDescription,
    ProcessorDescription,
)
from dlbrt.sim.loads import load_for
from dlbrt.sim.tables import TomlTable, count, number, text

__all__ = ["MAX_RANKS", "read_machine"]

#: A machine has no more processors.
MAX_RANKS = 1 << 22

#: Other numbers lie between these, so that what is computed with them stays finite.
_LEAST, _MOST = 1e-15, 1e15

_COUNT = f"a whole number from 1 to {MAX_RANKS}"
_PROCESSORS = f"{_COUNT}, or a list of speeds above 0"
_RANGE = f"above 0, from {_LEAST:g} to {_MOST:g}"
_SECONDS = f"seconds, from 0 to {_MOST:g}"
_COEFFICIENTS = "a list of finite numbers, the coefficients of 1, P, P^2, .."

_counted, _positive, _not_negative = count(1, MAX_RANKS), number(_LEAST, _MOST), number(0, _MOST)
_finite = number(-float_info.max, float_info.max)


def read_machine(found: Mapping[str, Any]) -> MachineDescription:
    """The machine that a mapping describes. DescriptionError, with a line for each thing that is wrong."""
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
    """The processors of one host: a number of them alike, or the speed of each."""
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
    plain = NetworkDescription()
    return NetworkDescription(
        latency_s or plain.latency_s, bandwidth or plain.bandwidth, switch_s or 0.0, patterns
    )


def _pattern(network: TomlTable, name: str, ranks: int) -> Pattern | None:
    """A pattern: its coefficients, or what `dlbc calibrate` has stored of it."""
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
    """The first time below 0 among the numbers of ranks that there may be; empty where there is none.

    Beyond the ranks that it was measured with a pattern takes no less than with these; where it has a least
    time the polynomial may go anywhere.
    """
    if pattern.least_s > 0 or min(pattern.coefficients) >= 0:
        return ""
    counts = np.arange(2, min(ranks, pattern.most if pattern.most > 1 else ranks) + 1, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        seconds = np.polynomial.polynomial.polyval(counts, pattern.coefficients)
    below = np.flatnonzero(seconds < 0)
    return f"{seconds[below[0]]:g} s for {counts[below[0]]:g}" if below.size else ""
