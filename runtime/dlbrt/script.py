"""``python -m dlbrt.script PLAN ARGS...``: run a program whose annotated modules are transformed.

``dlbc run`` keeps the generated texts in a temporary directory, with a plan that says what they belong to
(`RunPlan`). The program is `__main__`, sees its own ``sys.argv[0]``, ``__file__`` and the modules beside
it, and has tracebacks in terms of its files.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import types
from importlib.util import find_spec
from pathlib import Path
from typing import NotRequired, TypedDict

from dlbrt.contract import BEGAN, ENVIRONMENT, WATCHERS
from dlbrt.observe.relocate import relocated_code
from dlbrt.standard_library import keep_apart

#: Where Python's own code that runs a module lies, as tracebacks name it.
_RUNPY = "<frozen runpy>"


class RunPlan(TypedDict):
    """What to run: the file ``program``, which is the ``module`` where one is named (``app.__main__``).

    ``generated`` are the generated files by the real paths of their sources, ``roots`` the directories of
    the program's modules, and ``named`` those of packages, and files of single modules, that belong to it
    though they lie elsewhere.
    ``options`` are those of the compiler. Without ``parallel`` the runtime is not even started. One of the
    ``ranks`` alone needs no MPI. ``cell`` is the directory with the variables of a notebook of which
    the program is a cell, which ``defines`` these functions and classes; functions of the notebook stand in
    it ``by_name``.
    """

    program: str
    module: str
    generated: dict[str, str]
    roots: list[str]
    named: list[str]
    options: list[str]
    parallel: bool
    ranks: int
    cell: NotRequired[str]
    defines: NotRequired[list[str]]
    by_name: NotRequired[list[str]]


def main() -> None:
    """Run the program as ``__main__``."""
    plan: RunPlan = json.loads(Path(sys.argv[1]).read_bytes())
    if "cell" in plan:
        from dlbrt.cell.variables import run_cell

        run_cell(Path(plan["cell"]), plan["defines"], plan["by_name"], prepare)
        return
    code, namespace = prepare()
    exec(code, namespace)


def prepare() -> tuple[types.CodeType, dict[str, object]]:
    """The program's code and the namespace of its ``__main__``, in which it is to be executed.

    The first argument of the command is the file with the plan. Returns on rank 0 alone: other ranks serve
    its loops until it ends.
    """
    # Interrupts pass the launcher by, which has SIGINT blocked (`dlbc.commands.supervise`).
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    plan_file = Path(sys.argv[1])
    plan: RunPlan = json.loads(plan_file.read_bytes())
    path, module = os.path.abspath(plan["program"]), plan["module"]
    sys.argv[:] = [path if module else plan["program"], *sys.argv[2:]]
    here = module or "cell" in plan
    sys.path[0] = os.getcwd() if here else os.path.dirname(os.path.realpath(path))
    program = types.ModuleType("__main__")
    package = module.rpartition(".")[0] if module else None
    program.__dict__.update(__file__=path, __package__=package, __builtins__=__builtins__, __cached__=None)
    sys.modules["__main__"] = program
    if plan["parallel"]:
        keep_apart()  # from the program's directory, which has only now taken its place
        _start(plan, plan_file.parent)
    else:
        _show_program_alone()
    spec = find_spec(module) if module else None
    if spec is not None:
        program.__dict__.update(__spec__=spec, __loader__=spec.loader, __cached__=spec.cached)
    generated = plan["generated"].get(os.path.realpath(path))
    text = Path(generated or path).read_bytes()
    code = relocated_code(text, path) if generated else compile(text, path, "exec", dont_inherit=True)
    return code, program.__dict__


def _show_program_alone() -> None:
    """Show uncaught exceptions without the calls that have started the program.

    Where the runtime is started, it does so (`dlbrt.mpi.failure.install_hook`).
    """
    previous = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, tb: types.TracebackType | None) -> None:
        while tb is not None and tb.tb_frame.f_code.co_filename in (__file__, _RUNPY):
            tb = tb.tb_next
        previous(kind, error.with_traceback(tb), tb)

    sys.excepthook = hook


def _start(plan: RunPlan, directory: Path) -> None:
    """Start the runtime, and from then on import annotated modules as parallel ones; rank 0 alone returns.

    In the plan's ``directory`` it makes the file `BEGAN` as soon as it need not be started again, should a
    rank die.
    """
    if plan["ranks"] == 1:
        from dlbrt.mpi.one_rank import stand_in_for_mpi

        stand_in_for_mpi()
    from dlbrt.import_hook import ProgramFinder, imported_already, transform_loaded_files
    from dlbrt.mpi.board import board
    from dlbrt.mpi.session import start_program
    from dlbrt.mpi.values.program_modules import name_roots

    name_roots(plan["named"])
    board.watchers = directory / WATCHERS
    start_program(plan["ranks"])
    board.began = directory / BEGAN
    if os.environ.get(ENVIRONMENT["fault_tolerant"]) == "1":
        board.began.touch()
    if early := imported_already(plan["generated"]):
        sys.exit(
            f"dlb: {early[0]} was imported before the program began (by a .pth file or sitecustomize), so "
            "its annotated loops cannot be transformed; import it in the program"
        )
    finder = ProgramFinder(plan["generated"], plan["roots"], plan["named"], plan["options"])
    sys.meta_path.insert(0, finder)
    transform_loaded_files(finder)


if __name__ == "__main__":
    main()
