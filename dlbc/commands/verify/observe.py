"""``python -m dlbc.commands.verify.observe DIRECTORY SECONDS PLAN ARGS...``: run a program, record its end.

It runs as `dlbrt.script` runs it. In ``DIRECTORY`` stand afterwards `end.json`, with the exception that ended
the program and a description of its names (rank 0 alone writes it), and the Python stacks of each process
that still runs after ``SECONDS``, in `stacks.RANK.PID`.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dlbrt.script import prepare

from dlbc.commands.verify.open_elements import OpenElements
from dlbc.commands.verify.snapshot import describe

if TYPE_CHECKING:
    from dlbrt.mpi.root.left_open import OpenRows

#: How launchers number the ranks for the processes that they start.
_RANKS = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID")


def main() -> None:
    """Run the program, and record how it ended."""
    directory, seconds = Path(sys.argv[1]), float(sys.argv[2])
    del sys.argv[1:3]
    rank = next((os.environ[name] for name in _RANKS if name in os.environ), "0")
    stacks = (directory / f"stacks.{rank}.{os.getpid()}").open("w")
    faulthandler.dump_traceback_later(seconds, file=stacks)
    code, namespace = prepare()
    noted = _noted()
    ended_by: tuple[str, str] | None = None
    try:
        exec(code, namespace)
    except BaseException as error:
        ended_by = type(error).__qualname__, _message(error)
        raise
    finally:
        end = {"exception": ended_by, "names": describe(namespace, directory, OpenElements(noted))}
        (directory / "end.json").write_text(json.dumps(end), encoding="utf-8")


def _noted() -> list[OpenRows]:
    """What failing loops leave open from now on; nothing in a sequential run."""
    if "dlbrt.mpi.session" not in sys.modules:
        return []
    from dlbrt.mpi.root.left_open import left_open

    left_open.wanted = True
    return left_open.noted


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # a class of the program may fail at this
        return "(no message)"


if __name__ == "__main__":
    main()
