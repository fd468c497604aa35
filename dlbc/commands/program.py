"""Read the program that a command is to run: as it was kept, or compiled anew.

Where it was kept, no part of the compiler is imported.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from dlbc.commands import kept_programs
from dlbc.commands.common import show_diagnostics, takes_colors
from dlbc.commands.kept_programs import Request, WholeProgram


def read_program(options: argparse.Namespace) -> tuple[WholeProgram | None, int]:
    """The program that the options name, None if it has errors, and the status; prints diagnostics."""
    module, path = "", Path(options.file)
    if options.module:
        from dlbc.parse.find_program import NoModuleError, program_module
        from dlbc.source import Source

        try:
            module, path = program_module(options.module)
        except NoModuleError as error:
            return None, show_diagnostics(Source(options.module, b"", ""), (error.diagnostic,))
    named, followed = (tuple(p for paths in o for p in paths) for o in (options.package, options.follow))
    request = Request(_shown(path), module, named, followed, options.strict)
    compiled = kept_programs.find(request, os.environ)
    if compiled is None:
        from dlbc.commands.compile_program import compile_program

        compiled = compile_program(request)
    color = takes_colors(sys.stderr)
    for plain, colored in compiled.diagnostics:
        print(colored if color else plain, file=sys.stderr)
    return compiled.program, compiled.status


def _shown(path: Path) -> Path:
    """A path as short as it can be: below the current directory it is relative."""
    absolute = path.absolute()
    below = absolute.is_relative_to(Path.cwd()) and not path.is_absolute()
    return path if below or not absolute.is_relative_to(Path.cwd()) else Path(os.path.relpath(absolute))
