"""`dlbc simulate`: a loop through strategies, on a machine that is described."""

from __future__ import annotations

import argparse

from dlbc.commands.show import print_error, show_diagnostics, show_text

__all__ = ["add_arguments", "run"]


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
    from dlbc.simulate.command import simulate_loop
    from dlbc.simulate.problems import CannotSimulateError, FaultyProgramError
    from dlbc.simulate.request import SimulationRequest

    try:
        show_text(simulate_loop(SimulationRequest(**vars(options))))
    except FaultyProgramError as error:
        told = print_error(error.besides) if error.besides else 0
        return max(told, show_diagnostics(error.source, error.diagnostics))
    except CannotSimulateError as error:
        return print_error(error)
    return 0
