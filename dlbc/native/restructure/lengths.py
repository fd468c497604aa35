"""Lengths of arrays that a body asks for, as numbers that are known before the loop.

Elements change, lengths do not: ``range(A.shape[1])`` is the same throughout a loop that stores to ``A``.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from dlbc.native.restructure.body import assigned
from dlbc.native.restructure.nest import Nest
from dlbc.native.restructure.trees import Fresh, assign, replaced


def with_lengths(nest: Nest, fresh: Fresh) -> tuple[Nest, list[ast.stmt]]:
    """The nest with a name for each length of an array that is not made in it, and what sets those names."""
    arrays = frozenset(nest.arrays) - assigned(nest.loop.body)
    found: dict[str, str] = {}

    def replace_length(each: ast.expr) -> ast.expr | None:
        match each:
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=array), attr="shape"),
                slice=ast.Constant(value=int() as axis),
            ) if array in arrays and axis >= 0:
                pass
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=array)], keywords=[]) if array in arrays:
                axis = 0
            case _:
                return None
        text = f"{array}.shape[{axis}]"
        if text not in found:
            found[text] = fresh(f"{array}_shape_{axis}")
        return ast.Name(found[text], ast.Load())

    loop = replaced(nest.loop, replace_length)
    if not found:
        return nest, []
    numbers = (*nest.numbers, *found.values())
    return replace(nest, loop=loop, numbers=numbers), [assign(name, text) for text, name in found.items()]
