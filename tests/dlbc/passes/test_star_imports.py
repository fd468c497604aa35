"""`from math import *`: the names are those of the module, unless something else may bind them."""

from __future__ import annotations

import builtins

import numpy as np
import pytest

from dlbc.library.star_imports import builtins_hidden_by, exported_by
from tests.dlbc.passes.planning import codes_of, plan_of

LOOP = "x = [0.0] * n\n# dlb: parallel\nfor i in range(n):\n    x[i] = {}\nprint(x)\n"


@pytest.mark.parametrize(
    ("imports", "value"),
    [
        ("from math import *", "sin(i) + sqrt(i) + pi"),
        ("from numpy import *", "sin(i) + sum([i, 1]) + exp(i)"),
        ("from math import *\nfrom numpy import *", "sin(i) + max(i, 1)"),
    ],
)
def test_names_of_a_star_import_are_known(imports: str, value: str) -> None:
    plan = plan_of(f"{imports}\n{LOOP.format(value)}")
    assert "sin" not in plan.parameters
    assert not plan.watched or "max" in value


@pytest.mark.parametrize(
    "imports",
    [
        "from math import *\nfrom helpers import *",
        "from .math import *",
        "from math import *\nsin = [abs][0]",
        "from math import *\ndef f(sin):\n    return sin(1)",
    ],
)
def test_names_that_something_else_may_bind_are_not(imports: str) -> None:
    assert "DLB412" in codes_of(f"{imports}\n{LOOP.format('sin(i)')}")


def test_what_numpy_hides_of_the_builtins() -> None:
    hidden = set(np.__all__) & set(dir(builtins))
    assert hidden <= builtins_hidden_by("numpy")
    assert {"sin", "zeros", "sum"} <= exported_by("numpy") & set(np.__all__)
