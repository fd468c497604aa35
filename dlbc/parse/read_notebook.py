"""Read a Jupyter notebook as one program: its code cells from the first to the last.

What only IPython understands (`%magic`, `!command`, `help?`) becomes Python that changes nothing, line for
line, so that places stay. A line counts as IPython's only if Python refuses it, since ``% b`` may continue an
expression.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.parse.read_source import WHOLE_FILE
from dlbc.source import Source

#: The oldest format that has its cells at the top.
_FORMAT = 4
#: Cell magics whose cell is Python; that of any other is text or another language.
_PYTHON_CELL = re.compile(r"%%(?:capture|prun|time|timeit)\b")
_RUNS_CODE = re.compile(r"(\s*)%time\s+(?=\S)")
_ASSIGNED = re.compile(r"(\s*[^=!%#'\"]+=\s*)[!%]")
_MAGIC = re.compile(r"\s*(?:[%!?]|[^#'\"]*\?\s*$)")


class _DamagedError(Exception):
    """Why a file is no notebook of Python cells."""


def read_notebook(path: str) -> tuple[Source, tuple[Diagnostic, ...]]:
    """The program in the notebook at ``path``; the diagnostics are empty where it is one."""
    data = b""
    try:
        data = Path(path).read_bytes()
        cells = [_as_python(text) for text in _code_cells(_loaded(data))]
    except OSError as error:
        return Source(path, data, ""), (report("DLB001", WHOLE_FILE, reason=error.strerror or str(error)),)
    except _DamagedError as error:
        return Source(path, data, ""), (report("DLB017", WHOLE_FILE, reason=error),)
    # An empty line between cells keeps comments at the end of one apart from those of the next.
    starts = [1]
    for cell in cells:
        starts.append(starts[-1] + cell.count("\n") + 2)
    text = "\n\n".join(cells)
    return Source(path, text.encode(errors="surrogatepass"), text, cells=tuple(starts[:-1])), ()


def _loaded(data: bytes) -> Mapping[str, Any]:
    try:
        notebook = json.loads(data)
    except RecursionError:
        raise _DamagedError("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise _DamagedError(f"line {error.lineno} is not JSON: {error.msg}") from None
    except ValueError as error:
        raise _DamagedError(f"it is not JSON: {error}") from None
    if not isinstance(notebook, dict):
        raise _DamagedError("it is JSON, but not an object")
    return notebook


def _code_cells(notebook: Mapping[str, Any]) -> list[str]:
    version, cells = notebook.get("nbformat"), notebook.get("cells")
    if isinstance(version, int) and version < _FORMAT:
        raise _DamagedError(f"its format is number {version}")
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise _DamagedError("it has no list of cells")
    if (language := _language(notebook)) not in ("", "python"):
        raise _DamagedError(f"its cells are in the language {language!r}")
    return [_text(cell) for cell in cells if cell.get("cell_type") == "code"]


def _language(notebook: Mapping[str, Any]) -> str:
    found: object = notebook.get("metadata")
    for keys in (("language_info", "name"), ("kernelspec", "language")):
        value = found
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, str):
            return value.lower()
    return ""


def _text(cell: Mapping[str, Any]) -> str:
    source = cell.get("source")
    if isinstance(source, list) and all(isinstance(part, str) for part in source):
        source = "".join(source)
    if not isinstance(source, str):
        raise _DamagedError("the source of a cell is no text")
    return source.replace("\r\n", "\n").replace("\r", "\n")


def _as_python(cell: str) -> str:
    lines = cell.split("\n")
    if cell.startswith("%%"):
        lines[0] = ""
        if not _PYTHON_CELL.match(cell):
            return "\n" * (len(lines) - 1)
    # Each turn replaces the line at which Python stops; what is not IPython's is left to the compiler.
    while (number := _refused_line(lines)) and number <= len(lines):
        line = lines[number - 1]
        lines[number - 1] = _replaced(line)
        if lines[number - 1] == line:
            break
        while line.endswith("\\") and number < len(lines):
            line, lines[number] = lines[number], ""
            number += 1
    return "\n".join(lines)


def _refused_line(lines: Sequence[str]) -> int:
    """The line at which Python stops; 0 where it reads all of them, or stops for no single line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse("\n".join(lines))
    except SyntaxError as error:
        return error.lineno or 0
    except (RecursionError, MemoryError, ValueError):
        pass
    return 0


def _replaced(line: str) -> str:
    """The line without IPython's syntax; unchanged if it has none."""
    if found := _RUNS_CODE.match(line):
        return found[1] + line[found.end() :]
    if found := _ASSIGNED.match(line):
        return found[1] + "get_ipython()"
    return line[: len(line) - len(line.lstrip())] + "pass" if _MAGIC.match(line) else line
