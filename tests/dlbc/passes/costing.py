"""Costs of the loops of a program text, and random nests with what their iterations execute."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dlbc.algebra.index_space import IndexSpace
from dlbc.algebra.iteration_cost import Cost
from dlbc.ir.loop import Module
from dlbc.parse.find_loops import find_loops
from dlbc.passes.find_context import find_context
from dlbc.passes.infer_cost import infer_cost
from dlbc.passes.resolve_names import resolve_module, resolve_names
from dlbc.source import Source


def costs_of(text: str) -> list[tuple[Cost, IndexSpace | None]]:
    module = Module(Source("case.py", text.encode(), text), ast.parse(text))
    loops, _, _ = find_loops(module)
    module_names = resolve_module(module)
    found = []
    for loop in loops:
        names = resolve_names(loop, module_names)
        space = find_context(loop, names, module_names)
        found.append((infer_cost(loop, names, module_names, space), space))
    return found


def cost_of(
    body: str, head: str = "range(n)", before: str = "", arguments: str = "n: int, m: int, r: int"
) -> Cost:
    return space_and_cost(body, head, before, arguments)[0]


def space_and_cost(
    body: str, head: str = "range(n)", before: str = "", arguments: str = "n: int, m: int, r: int"
) -> tuple[Cost, IndexSpace]:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    top = f"import numpy as np\n{before}\ndef f(A, B, C, {arguments}):\n"
    text = f"{top}    # dlb: parallel\n    for i in {head}:\n{lines}"
    [(cost, space)] = costs_of(text)
    assert space is not None
    return cost, space


@dataclass(frozen=True)
class Nest:
    """A random nest: the body of the parallel loop as the user writes it, and a function that counts."""

    text: str
    counting: str

    def counter(self) -> Callable[[int, int, int], int]:
        """The operations of iteration i for n and m."""
        scope: dict[str, Callable[[int, int, int], int]] = {}
        exec(self.counting, scope)
        return scope["count"]


class Nests:
    """Random nests of loops, conditions and statements over the index i, n and m."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def one(self) -> Nest:
        lines = list(self._block(["i"], self._random.choice([1, 2, 3, 3, 3])))
        text = "".join(f"{'    ' * depth}{line}\n" for depth, line, _ in lines)
        counting = "def count(i, n, m):\n    t = s = 0\n"
        for depth, line, cost in lines:
            indent = "    " * (depth + 1)
            before = f"{indent}t += {cost}\n"
            if line.startswith("else"):
                counting += f"{indent}{line}\n"
            elif line.startswith("for"):
                counting += f"{before}{indent}{line}\n{indent}    t += 1\n"
            else:
                counting += f"{before}{indent}{line}\n"
        return Nest(text, counting + "    return t\n")

    def _block(self, known: list[str], depth: int, indent: int = 0) -> Iterator[tuple[int, str, int]]:
        if depth == 0:
            yield indent, "s += 1", 1
            return
        kind = self._random.random()
        if kind < 0.2:
            yield from self._if(known, depth, indent)
            return
        name = "jkl"[len(known) - 1]
        head = self._range(known)
        yield indent, f"for {name} in {head}:", operations(head)
        yield from self._block([*known, name], depth - 1, indent + 1)

    def _if(self, known: list[str], depth: int, indent: int) -> Iterator[tuple[int, str, int]]:
        test = self._test(known)
        yield indent, f"if {test}:", operations(test)
        yield from self._block(known, depth - 1, indent + 1)
        if self._random.random() < 0.5:
            yield indent, "else:", 0
            yield from self._block(known, depth - 1, indent + 1)

    def _test(self, known: list[str]) -> str:
        left, right = self._affine(known), self._affine(known)
        if self._random.random() < 0.25:
            return f"({left}) % {self._random.choice([2, 3])} == {self._random.randint(0, 1)}"
        relation = self._random.choice(["<", "<=", ">", ">=", "==", "!="])
        word = self._random.choice(["and", "or"])
        test = f"{left} {relation} {right}"
        return f"{test} {word} {self._affine(known)} < 3" if self._random.random() < 0.15 else test

    def _range(self, known: list[str]) -> str:
        low, high = self._bound(known), self._bound(known)
        shape = self._random.random()
        if shape < 0.3:
            return f"range({high})"
        if shape < 0.75:
            return f"range({low}, {high})"
        return f"range({low}, {high}, {self._random.choice([2, 3, -1, -2])})"

    def _bound(self, known: list[str]) -> str:
        kind = self._random.random()
        if kind < 0.7:
            return self._affine(known)
        if kind < 0.85:
            name = self._random.choice(["min", "max"])
            return f"{name}({self._affine(known)}, {self._affine(known)})"
        return f"({self._affine(known)}){self._random.choice(['//', '%'])}{self._random.choice([2, 3])}"

    def _affine(self, known: list[str]) -> str:
        names = self._random.sample([*known, *known, "n", "m"], self._random.choice([0, 1, 1, 2, 2]))
        text = ""
        for name in dict.fromkeys(names):
            factor = self._random.choice([1, 1, 1, 2, -1])
            sign = "-" if factor < 0 else "+"
            text += (f" {sign} " if text else "-" * (factor < 0)) + ("2*" if factor == 2 else "") + name
        literal = self._random.randint(-2, 4)
        if not text:
            return str(literal)
        return text if not literal else f"{text} {'-' if literal < 0 else '+'} {abs(literal)}"


def operations(text: str) -> int:
    """The operations of an expression without arrays, by the table of weights."""
    count = 0
    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, ast.UnaryOp):
            count += not isinstance(node.operand, ast.Constant)
        elif isinstance(node, ast.Compare):
            count += len(node.ops)
        elif isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
        else:
            count += isinstance(node, ast.BinOp | ast.Call)
    return count
