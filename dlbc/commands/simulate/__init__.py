"""`dlbc simulate`: a loop through strategies, on a machine that is described."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from dlbrt.contract import nearest
from dlbrt.records import dataclass
from dlbrt.sim.compare import SimulationCase, simulate_all, strategy_names
from dlbrt.sim.description import MachineDescription
from dlbrt.sim.machine import Machine

from dlbc.commands.common import print_error, show_diagnostics, show_text
from dlbc.commands.simulate.loops import loop_of_program, recorded_loop
from dlbc.commands.simulate.machines import find_machines, read_description
from dlbc.commands.simulate.request import (
    CannotSimulateError,
    Problems,
    SimulatedLoop,
    SimulationRequest,
    read_count,
)
from dlbc.commands.simulate.show import MachineResult, as_json, as_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.usage = (
        "dlbc simulate [-h] FILE --ranks LIST [--loop N] [--set NAME=NUMBER] [--iteration-s SECONDS] "
        "[--bytes B] [OPTIONS]\n"
        "       dlbc simulate [-h] --trace FILE [--loop N] [--ranks LIST] [OPTIONS]"
    )
    parser.description = (
        "Play a parallel loop through strategies on a machine that is described, by the policies that run: a "
        "loop of a program, which does not run, or one that was recorded by `dlbc run --trace`. What an "
        "iteration of a program costs, and the bytes that move with it, are what the compiler found; numbers "
        "that only a run has are given by --set. docs/simulate.md has examples. Exit status: 1 where the "
        "program has errors, 2 for what cannot be simulated."
    )
    parser.add_argument("file", metavar="FILE", nargs="?", help="an annotated Python program")
    parser.add_argument("--trace", metavar="FILE", help="in its place: a run that was recorded")
    parser.add_argument("--loop", metavar="N", help="the N-th parallel loop, from 1")
    parser.add_argument(
        "--ranks", "--hosts", metavar="LIST", dest="ranks",
        help="numbers of ranks: 4,16,256; default: those of the machine or of the recorded run",
    )  # fmt: skip
    parser.add_argument(
        "--strategy", metavar="LIST", default="all", help="strategies, with commas between, or all (default)"
    )
    parser.add_argument(
        "--set", metavar="NAME=NUMBER", dest="settings", action="append", default=[],
        help="a number of the program, such as n=1000 or 'len(A)=1000'; any number of times",
    )  # fmt: skip
    parser.add_argument(
        "--iteration-s", metavar="SECONDS",
        help="what an iteration takes on average, alone on a processor of speed 1; default 0.001",
    )  # fmt: skip
    parser.add_argument(
        "--bytes", metavar="B", help="bytes that move with an iteration, in place of those found"
    )
    _add_machine(parser)
    parser.add_argument(
        "--trace-out", metavar="FILE", help="write the trace of one strategy there, as that of a run"
    )
    parser.add_argument(
        "--format", choices=("full", "json"), default="full", help="full: for people (default)"
    )


def _add_machine(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--machine", metavar="FILE", help="a description of the machine, as TOML")
    parser.add_argument(
        "--load", metavar="SPEC", help="load of the processors: fixed:0,3 | random:max=5,... | none"
    )
    parser.add_argument("--speeds", metavar="LIST", help="relative speeds, the fastest being 1: 1,1.5")
    parser.add_argument(
        "--slow", metavar="RANK:FACTOR", action="append", default=[],
        help="a rank, from 0, whose speed is FACTOR times what it is; any number of times",
    )  # fmt: skip
    parser.add_argument("--group", metavar="SPEC", help="groups of the local strategies, as for run")
    parser.add_argument(
        "--seeds", metavar="K", default="1", help="play K random loads: medians, and range of makespans"
    )


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    from dlbc.commands.simulate.request import CannotSimulateError, FaultyProgramError, SimulationRequest

    try:
        show_text(simulate_loop(SimulationRequest(**vars(options))))
    except FaultyProgramError as error:
        told = print_error(error.besides) if error.besides else 0
        return max(told, show_diagnostics(error.source, error.diagnostics))
    except CannotSimulateError as error:
        return print_error(error)
    return 0


# ------------------------------------------------------------------------------
# `dlbc simulate`, from what was asked to its text.

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
    from dlbrt.observe.trace_writer import text_of
    from dlbrt.sim.replay import setup_of, trace_of

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


# ------------------------------------------------------------------------------
# `dlbc simulate`: a loop of a program under every strategy, on a machine that is described, in virtual time.
#
# `values` puts numbers in the place of what only a run knows, `spans`, `costs` and `rows` say with them which
# iterations there are, what they cost and what moves with them; `loops` makes of it what `dlbrt.sim` plays.
# `command` reads the options, `show` prints.
