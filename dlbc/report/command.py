"""`dlbc report`, from the name of a trace to the page that was written."""

from __future__ import annotations

from pathlib import Path

from dlbrt.observe.statistics import write_text
from dlbrt.observe.trace import TraceError, read

from dlbc.report.page import page

__all__ = ["CannotReportError", "report"]


class CannotReportError(Exception):
    """There is no page, in a sentence."""


def report(path: str, output: str | None) -> str:
    """Write the page of a trace, by default beside it; what to print: where it is, or the page for ``-``.

    CannotReportError where the file is no trace, or the page cannot be written.
    """
    source = Path(path)
    try:
        trace = read(source)
        if not trace.loops:
            raise CannotReportError(f"{path}: expected a parallel loop; found none")
        text = page(trace, source.name)
    except TraceError as error:
        raise CannotReportError(str(error)) from error
    except (ValueError, LookupError, ArithmeticError, RuntimeError) as error:  # it says what cannot have been
        raise CannotReportError(f"{path}: expected the trace of a run: {error}") from error
    if output == "-":
        return text.rstrip("\n")
    target = Path(output) if output else source.with_suffix(".html")
    try:
        write_text(target, text)
    except OSError as error:
        raise CannotReportError(f"{target}: cannot be written ({error.strerror or error})") from error
    return str(target)
