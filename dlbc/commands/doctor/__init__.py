"""`dlbc doctor`: what a run on these hosts needs, what is found, and what to do about the rest.

`gather` collects facts in other processes, each ended when its time is up; `checks` judges them by pure
functions; `show` prints the findings.
"""

from __future__ import annotations

import argparse
import os
import sys

from dlbc.commands import common
from dlbc.commands.doctor.checks import is_broken, judge
from dlbc.commands.doctor.gather_facts import DoctorRequest, gather
from dlbc.commands.doctor.show import as_json, as_text
from dlbc.commands.launchers import default_ranks


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.description = (
        "Check what a run needs: mpiexec and mpi4py of one MPI, hosts that answer, equal versions there, "
        "ranks that start and find each other, shared memory, compiled loops, processors, Slurm, "
        "calibration. For each trouble it shows what was expected, what was found, and what to try. Exit "
        "status: 0 if a run works, with warnings or without; 1 if something is broken; 2 for wrong usage or "
        "a hostfile that cannot be read."
    )
    common.add_ranks(parser, required=False)
    hosts = parser.add_mutually_exclusive_group()
    common.add_hostfile(hosts)
    hosts.add_argument("--hosts", metavar="LIST", default="", help="the same as a list: a,b:2")
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=_seconds, default=60.0,
        help="time for each thing that is started (default: 60)",
    )  # fmt: skip
    parser.add_argument("--format", choices=("text", "json"), default="text", help="(default: text)")


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    ranks = options.ranks or default_ranks()
    request = DoctorRequest(ranks, options.hostfile, options.hosts, options.timeout)
    try:
        facts = gather(request, os.environ)
    except OSError as error:
        return common.print_error(f"{error.filename}: {error.strerror or error}")
    except ValueError as error:
        return common.print_error(f"--hosts: {error}")
    findings = judge(facts)
    if options.format == "json":
        print(as_json(findings, ranks), file=common.standard_output())
    else:
        common.show_text(as_text(findings, color=common.takes_colors(sys.stdout)))
    return 1 if is_broken(findings) else 0


def _seconds(text: str) -> float:
    """A number of seconds above 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, found {text!r}")
    return value
