"""Text to CPython's own tree, with CPython's own words for what is wrong with it.

`compile` sees the text first: its message and line are right where other parsers' are wrong, and it
refuses the nesting that would overrun the lossless parser's stack.
"""

from __future__ import annotations

import ast
import warnings

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic
from dlbc.ir.loop import Module
from dlbc.parse.read_source import WHOLE_FILE
from dlbc.source import Source, SourcePlace

__all__ = ["parse_module"]


def parse_module(source: Source) -> Module | Diagnostic:
    """The module, or why it is none: a syntax error (DLB004), or one too deeply nested (DLB005)."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source.text, source.path)
            compile(source.text, source.path, "exec", dont_inherit=True)
    except SyntaxError as error:
        return report("DLB004", _place_of(error, source), reason=error.msg or "invalid syntax")
    except (RecursionError, MemoryError):
        return report("DLB005", WHOLE_FILE)
    except (ValueError, OverflowError) as error:
        return report("DLB004", WHOLE_FILE, reason=str(error))
    return Module(source, tree)


def _place_of(error: SyntaxError, source: Source) -> SourcePlace:
    if not error.lineno:
        return WHOLE_FILE
    line = min(error.lineno, len(source.lines))
    column = min(max(1, error.offset or 1), len(source.line(line)) + 1)
    if error.end_lineno == line and error.end_offset and error.end_offset > column:
        return SourcePlace(line, column, line, error.end_offset)
    return SourcePlace(line, column, line, column + 1)
