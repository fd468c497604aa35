"""`dlbc simulate`, from what was asked to its text."""

from __future__ import annotations

from collections.abc import Iterator

from dlbrt.contract import nearest
from dlbrt.records import dataclass
from dlbrt.sim.description import MachineDescription
from dlbrt.sim.machine import Machine
from dlbrt.sim.play import SimulationCase, simulate_all, strategy_names

from dlbc.simulate.described import SimulatedLoop
from dlbc.simulate.machines import find_machines, read_description
from dlbc.simulate.problems import CannotSimulateError, Problems
from dlbc.simulate.programs import loop_of_program
from dlbc.simulate.recordings import recorded_loop
from dlbc.simulate.request import SimulationRequest, read_count
from dlbc.simulate.show import MachineResult, as_json, as_text

__all__ = ["simulate_loop"]

_MOST_SEEDS = 10_000


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be played: a loop, on each of these machines, under each of these strategies and loads."""

    described: SimulatedLoop
    machines: tuple[Machine, ...]
    strategies: tuple[str, ...]
    seeds: int


def simulate_loop(request: SimulationRequest) -> str:
    """What a loop takes on each machine that is asked for, as it is printed.

    CannotSimulateError with all that is wrong with what was asked, the machine first; FaultyProgramError.
    """
    asked = _read(request)
    described, seeds, traced = asked.described, asked.seeds, request.trace_out is not None
    if traced and (len(asked.machines), len(asked.strategies), seeds) != (1, 1, 1):
        raise CannotSimulateError("--trace-out: expected one number of ranks, one strategy and one load")
    blocks = []
    for machine in asked.machines:
        if seeds > 1 and machine.load.random is None:
            wanted = "a random load to go with it, such as --load random:max=5,duration=0.5"
            raise CannotSimulateError(f"--seeds: expected {wanted}; found none")
        case = SimulationCase(machine, described.model(machine.ranks), seeds)
        played = simulate_all(case, asked.strategies, described.parameters, traced=traced)
        blocks.append(MachineResult(machine, case.loop, played))
    if request.trace_out is not None:
        _write(request.trace_out, blocks[0], described)
    show = as_json if request.format == "json" else as_text
    return show(described, blocks, tuple(_notes(request, asked.machines[0])))


def _read(request: SimulationRequest) -> _Asked:
    problems = Problems()
    description: MachineDescription | None = None
    described: SimulatedLoop | None = None
    machines: tuple[Machine, ...] = ()
    with problems.kept():
        description = read_description(request.machine)
    readable = not problems
    with problems.kept():
        strategies = _strategies(request.strategy)
    with problems.kept():
        seeds = read_count("--seeds", request.seeds, _MOST_SEEDS)
    with problems.kept():
        described = _described(request)
    # A recorded run brings a machine of its own; of a program's loop only groups are asked.
    if readable and (described is not None or request.trace is None):
        with problems.kept():
            machines = find_machines(request, description, described)
    problems.end()
    assert described is not None, "what is not known is a problem"
    return _Asked(described, machines, strategies, seeds)


def _described(request: SimulationRequest) -> SimulatedLoop:
    if request.trace is not None:
        return recorded_loop(request.trace, request.loop)
    return loop_of_program(request.file or "", request)


def _write(path: str, block: MachineResult, described: SimulatedLoop) -> None:
    """Write the trace of the only run."""
    from dlbrt.observe.statistics import write_text
    from dlbrt.observe.tracing import text_of
    from dlbrt.sim.traced import setup_of, trace_of

    (played,) = block.played
    setup = setup_of(block.machine, block.loop, played.strategy, described.parameters)
    trace = trace_of(played.outcomes[0], block.machine, block.loop, setup, described.source)
    try:
        write_text(path, text_of(trace))
    except OSError as error:
        raise CannotSimulateError(f"--trace-out: {path}: {error.strerror or error}") from error


def _notes(request: SimulationRequest, machine: Machine) -> Iterator[str]:
    network = machine.network
    where = request.machine or ("as recorded" if request.trace and not request.ranks else "processors alike")
    rate = f"{network.bandwidth / 1e6:g} MB/s"
    yield f"machine: {where}; latency {network.latency_s * 1e6:g} us, bandwidth {rate}"
    changes = {"load": _load(request, machine), "speeds": request.speeds, "slow": ", ".join(request.slow)}
    for name, value in changes.items():
        if value:
            yield f"{name}: {value}"


def _load(request: SimulationRequest, machine: Machine) -> str:
    """The load as it was asked for, else that of the machine."""
    drawn = machine.load.random
    if request.load is not None or drawn is None:
        return request.load or ("fixed" if any(machine.load.levels) else "")
    return f"random, 0 to {drawn.maximum}, each for {drawn.duration_s:g} s"


def _strategies(text: str) -> tuple[str, ...]:
    known = strategy_names()
    if text.strip() == "all":
        return known
    found = tuple(dict.fromkeys(word.strip() for word in text.split(",")))
    for name in found:
        if name not in known:
            wanted = f"all, or some of {', '.join(known)}"
            hint = nearest(name, known)
            raise CannotSimulateError(f"--strategy: expected {wanted}; found {name!r}{hint}")
    return found
