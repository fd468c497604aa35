"""`dlbc simulate`: a loop of a program or of a recorded run, in virtual time on a described machine.

The program does not run. `request` has the options, `machines` the machines, `loops` the model that
`dlbrt.sim` plays; for a program's loop, `costs` evaluates what an iteration costs, by the numbers that are
known or given (`dlbc.commands.explain.loop_numbers`). `show` prints the results.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from dlbrt.contract import nearest
from dlbrt.records import dataclass
from dlbrt.sim.compare import SimulationCase, simulate_all, strategy_names
from dlbrt.sim.description import MachineDescription
from dlbrt.sim.machine import Machine

from dlbc.commands.common import print_error, show_diagnostics, show_text
from dlbc.commands.explain.loop_numbers import NumberError
from dlbc.commands.simulate.loops import loop_of_program, recorded_loop
from dlbc.commands.simulate.machines import find_deaths, find_machines, read_description
from dlbc.commands.simulate.request import (
    CannotSimulateError,
    FaultyProgramError,
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
        "Simulate a parallel loop under each strategy on a described machine, with the policies of the "
        "runtime: a loop of a program, which does not run, or one recorded by `dlbc run --trace`. For a "
        "program, the compiler finds what an iteration costs and the bytes that move with it; numbers known "
        "only at run time are given by --set. docs/simulate.md has examples. Exit status: 1 if the program "
        "has errors, 2 if it cannot be simulated."
    )
    parser.add_argument("file", metavar="FILE", nargs="?", help="an annotated Python program")
    parser.add_argument("--trace", metavar="FILE", help="instead of a program: a recorded run")
    parser.add_argument("--loop", metavar="N", help="the N-th parallel loop, from 1")
    parser.add_argument(
        "--ranks", "--hosts", metavar="LIST", dest="ranks",
        help="numbers of ranks: 4,16,256; default: those of the machine or of the recorded run",
    )  # fmt: skip
    parser.add_argument(
        "--strategy", metavar="LIST", default="all", help="strategies, separated by commas, or all (default)"
    )
    parser.add_argument(
        "--set", metavar="NAME=NUMBER", dest="settings", action="append", default=[],
        help="a number of the program, such as n=1000 or 'len(A)=1000'; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--iteration-s", metavar="SECONDS",
        help="mean time of an iteration, alone on a processor of speed 1; default 0.001",
    )  # fmt: skip
    parser.add_argument(
        "--bytes", metavar="B", help="bytes that move with an iteration, in place of the compiler's estimate"
    )
    _add_machine(parser)
    parser.add_argument(
        "--trace-out", metavar="FILE", help="write a trace there, as of a run; for one strategy only"
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
        help="multiply the speed of a rank, from 0, by FACTOR; may be repeated",
    )  # fmt: skip
    parser.add_argument("--group", metavar="SPEC", help="groups of the local strategies, as for run")
    parser.add_argument(
        "--kill", metavar="RANK@SECONDS", action="append", default=[],
        help="a rank above 0 dies so long after the loop begins, and the others go on, as under "
        "`dlbc run --fault-tolerant`; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--seeds", metavar="K", default="1", help="simulate K random loads: medians, and range of makespans"
    )


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    try:
        show_text(simulate_loop(SimulationRequest(**vars(options))))
    except FaultyProgramError as error:
        status = print_error(error.besides) if error.besides else 0
        return max(status, show_diagnostics(error.source, error.diagnostics))
    except NumberError as error:
        return print_error(error)
    return 0


_MOST_SEEDS = 10_000


@dataclass(frozen=True, slots=True)
class _Experiment:
    """A loop to be simulated on each of these machines, under each of these strategies and loads."""

    loop: SimulatedLoop
    machines: tuple[Machine, ...]
    strategies: tuple[str, ...]
    seeds: int


def simulate_loop(request: SimulationRequest) -> str:
    """The results of a loop on each requested machine, as text or JSON.

    CannotSimulateError with everything that is wrong with the request, the machine first; FaultyProgramError.
    """
    experiment = _read(request)
    loop, seeds, traced = experiment.loop, experiment.seeds, request.trace_out is not None
    if traced and (len(experiment.machines), len(experiment.strategies), seeds) != (1, 1, 1):
        raise CannotSimulateError("--trace-out: expected one number of ranks, one strategy and one load")
    if traced and request.kill:
        raise CannotSimulateError("--trace-out: expected no --kill with it: a trace has one run by all ranks")
    blocks = []
    for machine in experiment.machines:
        if seeds > 1 and machine.load.random is None:
            wanted = "a random load to go with it, such as --load random:max=5,duration=0.5"
            raise CannotSimulateError(f"--seeds: expected {wanted}; found none")
        case = SimulationCase(machine, loop.model(machine.ranks), seeds, find_deaths(request.kill, machine))
        outcomes = simulate_all(case, experiment.strategies, loop.parameters, traced=traced)
        blocks.append(MachineResult(machine, case.loop, outcomes))
    if request.trace_out is not None:
        _write(request.trace_out, blocks[0], loop)
    show = as_json if request.format == "json" else as_text
    return show(loop, blocks, tuple(_notes(request, experiment.machines[0])))


def _read(request: SimulationRequest) -> _Experiment:
    problems = Problems()
    description: MachineDescription | None = None
    loop: SimulatedLoop | None = None
    machines: tuple[Machine, ...] = ()
    with problems.kept():
        description = read_description(request.machine)
    readable = not problems
    with problems.kept():
        strategies = _strategies(request.strategy)
    with problems.kept():
        seeds = read_count("--seeds", request.seeds, _MOST_SEEDS)
    with problems.kept():
        if request.trace is not None:
            loop = recorded_loop(request.trace, request.loop)
        else:
            loop = loop_of_program(request.file or "", request)
    # Without its recorded run the machine is unknown; without a program's loop only the groups are.
    if readable and (loop is not None or request.trace is None):
        with problems.kept():
            machines = find_machines(request, description, loop)
    problems.end()
    assert loop is not None, "a missing loop is a problem"
    return _Experiment(loop, machines, strategies, seeds)


def _write(path: str, block: MachineResult, loop: SimulatedLoop) -> None:
    """Write the trace of the only run."""
    from dlbrt.observe.files import write_text
    from dlbrt.observe.trace_writer import text_of
    from dlbrt.sim.replay import setup_of, trace_of

    (simulated,) = block.strategies
    setup = setup_of(block.machine, block.loop, simulated.strategy, loop.parameters)
    trace = trace_of(simulated.outcomes[0], block.machine, block.loop, setup, loop.source)
    try:
        write_text(path, text_of(trace))
    except OSError as error:
        raise CannotSimulateError(f"--trace-out: {path}: {error.strerror or error}") from error


def _notes(request: SimulationRequest, machine: Machine) -> Iterator[str]:
    network = machine.network
    where = request.machine or ("as recorded" if request.trace and not request.ranks else "processors alike")
    rate = f"{network.bandwidth / 1e6:g} MB/s"
    yield f"machine: {where}; latency {network.latency_s * 1e6:g} us, bandwidth {rate}"
    changes = {
        "load": _load(request, machine),
        "speeds": request.speeds,
        "slow": ", ".join(request.slow),
        "killed": ", ".join(request.kill),
    }
    for name, value in changes.items():
        if value:
            yield f"{name}: {value}"


def _load(request: SimulationRequest, machine: Machine) -> str:
    """The load as it was requested, else that of the machine."""
    drawn = machine.load.random
    if request.load is not None or drawn is None:
        return request.load or ("fixed" if any(machine.load.levels) else "")
    return f"random, 0 to {drawn.maximum}, each for {drawn.duration_s:g} s"


def _strategies(text: str) -> tuple[str, ...]:
    known = strategy_names()
    if text.strip() == "all":
        return known
    names = tuple(dict.fromkeys(word.strip() for word in text.split(",")))
    for name in names:
        if name not in known:
            wanted = f"all, or some of {', '.join(known)}"
            hint = nearest(name, known)
            raise CannotSimulateError(f"--strategy: expected {wanted}; found {name!r}{hint}")
    return names
