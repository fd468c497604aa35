"""One program that runs each of its loops under every strategy.

Starting 16 ranks takes as long as a loop. So a program is given a copy of its functions for each strategy,
with the clause `schedule`; a launch runs the copies that it is told, one after the other. Each copy's loops
meet the same emulated load, since that begins with the loop. A loop is known by its line in the statistics.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["WARM", "Copies", "copies"]

#: Runs first, briefly: what only a first loop has to do (connections, pages of memory) is done then.
WARM = "warm"

_MARK = "# dlb: parallel"
_WARMTH = 0.02

_RUN = f"""
arguments = arguments()
main_{WARM}(arguments[0], [seconds * {_WARMTH} for seconds in arguments[1]])
for strategy in sys.argv[3:]:
    globals()["main_" + strategy](*arguments)
"""


@dataclass(frozen=True, slots=True)
class Copies:
    """``loops[line]`` is which loop of the program stands there, from 0, and whose copy it is."""

    text: str
    loops: dict[int, tuple[int, str]]


def copies(program: Path, strategies: Sequence[str]) -> Copies:
    """Copy the functions of a program, which has them between its imports and its last statement."""
    text = program.read_text(encoding="utf-8")
    tree = ast.parse(text)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    lines = text.splitlines(keepends=True)
    head = "".join(lines[: functions[0].lineno - 1])
    body = "".join(lines[functions[0].lineno - 1 : functions[-1].end_lineno])
    names = re.compile(rf"\b({'|'.join(function.name for function in functions)})\b(?=\()")
    parts = [head, "import sys\n"]
    for strategy in (WARM, *strategies):
        clause = "" if strategy == "auto" else f", schedule({'GDDLB' if strategy == WARM else strategy})"
        marked = body.replace(_MARK, _MARK + clause)
        parts.append("\n\n" + names.sub(rf"\1_{strategy}", marked))
    whole = "".join(parts) + _RUN
    return Copies(whole, _found(whole, (WARM, *strategies)))


def _found(text: str, strategies: Sequence[str]) -> dict[int, tuple[int, str]]:
    """The lines of the annotated loops: as many for each strategy, in its order."""
    marked = [number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith(_MARK)]
    each = len(marked) // len(strategies)
    return {line + 1: (place % each, strategies[place // each]) for place, line in enumerate(marked)}
