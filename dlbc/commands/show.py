"""What commands print: diagnostics and complaints on standard error, results on standard output."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable
from typing import TextIO

from dlbc.diagnostics import Diagnostic, has_errors, render
from dlbc.source import Source

__all__ = ["print_error", "show_diagnostics", "show_text", "standard_output", "status_of", "takes_colors"]

#: Errors of usage rather than of the program.
_USAGE_CODES = frozenset({"DLB001", "DLB002", "DLB003", "DLB013", "DLB015", "DLB016"})


def show_diagnostics(source: Source, diagnostics: Iterable[Diagnostic]) -> int:
    """Show the diagnostics on standard error; the exit status that they mean."""
    diagnostics = tuple(diagnostics)
    color = takes_colors(sys.stderr)
    for diagnostic in diagnostics:
        print(render(diagnostic, source, color=color), file=sys.stderr)
    return status_of(diagnostics)


def status_of(diagnostics: Iterable[Diagnostic]) -> int:
    """The exit status that diagnostics mean."""
    diagnostics = tuple(diagnostics)
    if any(d.code in _USAGE_CODES for d in diagnostics):
        return 2
    return 1 if has_errors(diagnostics) else 0


def print_error(message: object) -> int:
    """Say on standard error, line by line, why a command cannot do what it was asked; the exit status."""
    for line in str(message).splitlines():
        print(f"dlbc: {line}", file=sys.stderr)
    return 2


def show_text(text: str) -> None:
    """Print on standard output; what its encoding lacks is escaped, as on standard error."""
    output = standard_output()
    encoding = output.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=output, flush=True)


def standard_output() -> TextIO:
    """Raises OSError where the command was started without one."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")
    return sys.stdout


def takes_colors(stream: TextIO | None) -> bool:
    """Whether colours are seen there, and wanted (https://no-color.org)."""
    seen = stream is not None and stream.isatty()
    return seen and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
