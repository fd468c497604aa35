"""What a trace says of the whole program: the command that ran it, when, and how long it took."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from dlbrt.contract import ENVIRONMENT
from dlbrt.observe.trace import TracedProgram

#: Options that take no value.
_SWITCHES = ("adapt", "trust", "progress")

#: The module with which `dlbc run` starts each rank.
_SCRIPT = "dlbrt.script"


def traced_program(
    ranks: int, began: float, elapsed_s: float, tracing_s: float, statistics: Mapping[str, Any]
) -> TracedProgram:
    """What is known at the end of a program whose runtime began ``elapsed_s`` ago, at ``began``."""
    startup_s = max(0.0, process_age_s() - elapsed_s)
    date = datetime.now().astimezone().isoformat(timespec="seconds")
    command = command_of(ranks, sys.argv, os.environ, sys.orig_argv)
    return TracedProgram(command, date, began, startup_s, elapsed_s, tracing_s, statistics)


def command_of(
    ranks: int, argv: Sequence[str], environ: Mapping[str, str], orig_argv: Sequence[str] = ()
) -> str:
    """The command of a program with the arguments ``argv``, with its options, as a shell takes it.

    ``orig_argv`` are those of the interpreter, by which `dlbc run` is told from a generated file.
    """
    given = [(name, environ[variable].strip()) for name, variable in ENVIRONMENT.items()
             if name != "summary" and environ.get(variable, "").strip()]  # fmt: skip
    if _SCRIPT in orig_argv:
        words = ["dlbc", "run", "-n", str(ranks)]
        for name, value in given:
            words += [] if name in _SWITCHES and value == "0" else [f"--{name}"]
            words += [] if name in _SWITCHES else [value]
        return shlex.join([*words, *argv])
    settings = " ".join(f"{ENVIRONMENT[name]}={shlex.quote(value)}" for name, value in given)
    start = ["python", *argv] if ranks == 1 else ["mpiexec", "-n", str(ranks), "python", *argv]
    return f"{settings} {shlex.join(start)}".strip()


def process_age_s() -> float:
    """Seconds since this process was started; 0 where the system does not tell."""
    try:
        with open("/proc/self/stat", encoding="ascii", errors="replace") as file:
            begin = int(file.read().rpartition(")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - begin / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0
