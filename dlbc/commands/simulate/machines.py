"""The machines of a simulation: described, plain, or that of a recorded run, as modified by the options."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dlbrt.contract import OptionError
from dlbrt.emulation import LoadSpec
from dlbrt.predict.groups import GroupSpec, parse_group
from dlbrt.sim.deaths import Death
from dlbrt.sim.description import (
    MAX_RANKS,
    DescriptionError,
    MachineDescription,
    NetworkDescription,
    read_machine,
)
from dlbrt.sim.machine import Machine, load_for, speeds_for

from dlbc.commands.simulate.request import (
    CannotSimulateError,
    SimulatedLoop,
    SimulationRequest,
    read_count,
    read_number,
)

_EXPECTED = "expected a machine as TOML, such as `processors = 4` (docs/simulate.md has all keys)"

#: The smallest speed of a processor, so that times stay finite.
_LEAST_SPEED = 1e-15


def read_description(path: str | None) -> MachineDescription | None:
    """The description in a file, if one is named; CannotSimulateError with everything wrong with it."""
    if path is None:
        return None
    try:
        with Path(path).open("rb") as file:
            return read_machine(tomllib.load(file))
    except OSError as error:
        raise CannotSimulateError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise CannotSimulateError(f"{path}: {_EXPECTED}; found a file that is no text in UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise CannotSimulateError(f"{path}: {_EXPECTED}; found no TOML: {error}") from error
    except DescriptionError as error:
        lines = str(error).splitlines()
        raise CannotSimulateError("\n".join(f"{path}: {line}" for line in lines)) from error


def find_machines(
    request: SimulationRequest, description: MachineDescription | None, loop: SimulatedLoop | None
) -> tuple[Machine, ...]:
    """A machine for each requested number of ranks; CannotSimulateError for wrong options.

    With None for ``loop``, which could not be read, the options are still checked.
    """
    network = NetworkDescription() if loop is None else loop.network
    recorded = None if loop is None else loop.machine
    size = None if loop is None else loop.group
    basis = description or MachineDescription(network=network)
    if request.ranks is not None:
        words = (word.strip() for word in request.ranks.split(","))
        counts = tuple(dict.fromkeys(read_count("--ranks", word, MAX_RANKS) for word in words))
    elif basis.processors:
        counts = (len(basis.processors),)
    elif recorded is not None:
        return (_changed(request, recorded),)
    else:
        raise CannotSimulateError("expected --ranks, such as 4,16,256, or a --machine; found neither")
    return tuple(_changed(request, _made(request, basis, ranks, size)) for ranks in counts)


def find_deaths(words: Sequence[str], machine: Machine) -> tuple[Death, ...]:
    """The ranks of a machine that die, and when; CannotSimulateError for wrong options."""
    found = []
    for word in words:
        rank, at, seconds = (part.strip() for part in word.partition("@"))
        if not (at and re.fullmatch("[0-9]{1,9}", rank) and 0 < int(rank) < machine.ranks):
            wanted = f"RANK@SECONDS, such as 1@0.5, of a rank from 1 to {machine.ranks - 1}"
            raise CannotSimulateError(f"--kill: expected {wanted}; found {word!r}")
        found.append(Death(int(rank), read_number("--kill", seconds)))
    return tuple(found)


def _made(
    request: SimulationRequest, description: MachineDescription, ranks: int, size: int | None
) -> Machine:
    """The described machine; ``size`` is that of its groups, unless the request sets another."""
    try:
        group = _group(request, ranks)
        return description.machine(ranks, group, None if group.size or size is None else min(size, ranks))
    except (OptionError, DescriptionError) as error:
        raise CannotSimulateError(str(error)) from error


def _group(request: SimulationRequest, ranks: int) -> GroupSpec:
    return GroupSpec() if request.group is None else parse_group(request.group, ranks)


def _changed(request: SimulationRequest, machine: Machine) -> Machine:
    """The machine as modified by the options."""
    ranks = machine.ranks
    try:
        load = _load(request, machine)
        if request.group is not None and request.machine is None:
            spec = _group(request, ranks)
            machine = replace(machine, groups=spec.formed(["host"] * ranks, ()), rules=spec.rules)
    except OptionError as error:
        raise CannotSimulateError(str(error)) from error
    return replace(machine, load=load, speeds=_slowed(machine.speeds, request.slow))


def _load(request: SimulationRequest, machine: Machine) -> LoadSpec:
    load = machine.load
    if request.load is not None:
        load = replace(load_for(request.load, machine.ranks), speeds=load.speeds, cliffs=load.cliffs)
    if request.speeds is not None:
        given = speeds_for(request.speeds, machine.ranks)
        load = replace(load, speeds=given.speeds, cliffs=given.cliffs or load.cliffs)
    return load


def _slowed(speeds: tuple[float, ...], slow: Sequence[str]) -> tuple[float, ...]:
    slowed = list(speeds)
    for word in slow:
        rank, colon, factor = (part.strip() for part in word.partition(":"))
        if not (colon and re.fullmatch("[0-9]{1,9}", rank) and int(rank) < len(slowed)):
            wanted = f"RANK:FACTOR, such as 0:0.5, of a rank below {len(slowed)}"
            raise CannotSimulateError(f"--slow: expected {wanted}; found {word!r}")
        slowed[int(rank)] *= read_number("--slow", factor, above=True)
    if not (least := min(slowed)) >= _LEAST_SPEED:
        raise CannotSimulateError(f"--slow: expected speeds of {_LEAST_SPEED:g} or more; found {least:g}")
    return tuple(slowed)
