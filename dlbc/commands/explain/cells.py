"""Nests over the cells of a domain, cut within rows: what that gains over whole rows (Swartz, section 5).

A loop over rows is cut between rows, and the largest part may be a row above the mean: in the paper's
example, 20 rows on 4 processors, 12 %. Written as one loop over cells, the same nest is cut within rows.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dlbc.analysis.uses import names_in
from dlbc.commands.explain.iterations import find_iterations
from dlbc.commands.explain.loop_numbers import LoopNumbers, NumberError

if TYPE_CHECKING:
    from dlbrt.partition.known import KnownWork


def columns_of(loop: ast.For, numbers: LoopNumbers) -> int | None:
    """The cells of a row, if the loop is a nest over cells: its body one inner loop, as long in every row."""
    match loop:
        case ast.For(target=ast.Name(id=row), body=[ast.For(iter=inner, orelse=[])], orelse=[]):
            if row in names_in(ast.unparse(inner)):
                return None
            try:
                found = find_iterations(inner, numbers)
            except NumberError:
                return None
            return None if found is None else len(found.values) or None
    return None


def within_rows(rows: int, columns: int, work: KnownWork | None, speeds: Sequence[float]) -> float:
    """The efficiency of cuts between cells, the work of a row being even over its columns.

    ``work`` is that of the rows, None if it is uniform.
    """
    import numpy as np
    from dlbrt.partition.density import Density

    each = np.ones(rows) if work is None else np.diff(work.before(np.arange(rows + 1)))
    cells = Density(rows * columns, columns, each)
    parts = cells.between(cells.cut(speeds)).tolist()
    longest = max(float(part) / speed for part, speed in zip(parts, speeds, strict=True) if speed)
    return float(each.sum()) / (sum(speeds) * longest)
