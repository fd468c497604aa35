"""What a module has done that others see, by its text."""

from __future__ import annotations

import ast
import sys

import pytest
from dlbrt.visible_effects import visible_effects

FUNCTION = "def setup(path):\n    {body}\n    return 3\n"


def lines(text: str, end: int = sys.maxsize) -> list[int]:
    return list(visible_effects(ast.parse(text).body, end))


@pytest.mark.parametrize(
    "text",
    [
        "import numpy as np\nx = np.zeros(3)\nnp.random.seed(1)\n",
        "try:\n    import fast\nexcept ImportError:\n    fast = None\n",
        "class Kept:\n    size: int = 3\n    def show(self):\n        print(self.size)\nkept = Kept()\n",
        FUNCTION.format(body="print(path)") + "name = 'setup'\n",
        FUNCTION.format(body="text = open(path).read()") + "n = setup('x')\n",
        "if __name__ == '__main__':\n    print('alone')\n",
    ],
)
def test_imports_definitions_and_values_are_not_seen(text: str) -> None:
    assert lines(text) == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = 1\nmain()\n", 2),
        ("x = int(input())\n", 1),
        (FUNCTION.format(body="print(path)") + "n = setup('x')\n", 4),
        ("def f():\n    return g()\n" + "def g():\n    print(1)\n" + "n = 1 + f()\n", 5),
        ("class Log:\n    def __init__(self):\n        print('made')\nlog = Log()\n", 4),
        ("class Log:\n    print('made')\n", 2),
        ("if input() == 'x':\n    n = 3\n", 1),
    ],
)
def test_what_a_call_or_a_block_does_is_seen(text: str, line: int) -> None:
    assert lines(text) == [line]


def test_the_block_of_a_program_counts_where_it_has_run() -> None:
    text = "if __name__ == '__main__':\n    print('begun')\nimport sim\n"
    assert lines(text, end=3) == [2]
