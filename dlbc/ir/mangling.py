"""Private names of a class (``__x``) as a function outside it has to write them (``_Owner__x``)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.plan import ArrayPlan
from dlbc.ir.reduction import Reduction
from dlbc.ir.uses import every_node

__all__ = ["mangled_names", "rename", "rename_array", "rename_reduction", "swapped"]


def mangled_names(loop: AnnotatedLoop) -> Iterator[tuple[str, str]]:
    """The private names of the loop with their mangled forms, in order of the alphabet."""
    owner = next((n for n in reversed(loop.path) if isinstance(n, ast.ClassDef)), None)
    if owner is None or not owner.name.strip("_"):
        return
    found = {
        name
        for node in every_node(loop.node)
        for name in (getattr(node, "id", None), getattr(node, "attr", None), getattr(node, "arg", None))
        if isinstance(name, str) and name.startswith("__") and not name.endswith("__")
    }
    for name in sorted(found):
        yield name, f"_{owner.name.lstrip('_')}{name}"


def rename(name: str | None, mangled: dict[str, str]) -> str | None:
    """A name, if there is one, as the kernel has it."""
    return None if name is None else mangled.get(name, name)


def rename_reduction(reduction: Reduction, mangled: dict[str, str]) -> Reduction:
    """The reduction under the names that the kernel has."""
    companions = tuple(mangled.get(n, n) for n in reduction.companions)
    return replace(reduction, name=mangled.get(reduction.name, reduction.name), companions=companions)


def rename_array(plan: ArrayPlan, mangled: dict[str, str]) -> ArrayPlan:
    """The row of the array table under the names that the kernel has."""
    return replace(
        plan,
        name=swapped(plan.name, mangled),
        rows=tuple(swapped(row, mangled) for row in plan.rows),
        writes=None if plan.writes is None else tuple(swapped(row, mangled) for row in plan.writes),
    )


def swapped(text: str, mangled: dict[str, str]) -> str:
    """Source text with private names as the kernel has them."""
    if not mangled:
        return text
    pattern = re.compile(r"(?<!\w)(" + "|".join(map(re.escape, mangled)) + r")(?!\w)")
    return pattern.sub(lambda m: mangled[m[1]], text)
