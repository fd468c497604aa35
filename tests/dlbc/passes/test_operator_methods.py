"""Operators of the program's classes may give an operand back, which is no iteration's own."""

from __future__ import annotations

import pytest

from dlbc.diagnostics.diagnostic import Severity
from tests.dlbc.passes.planning import results_of

PROGRAM = """\
class Box(dict):
    def __or__(self, other):
        {method}
    def __neg__(self):
        {method}
    def __lt__(self, other):
        {method}

b, out = Box(), [0] * n
# dlb: parallel
for i in range(n):
    x = {expression}
    x["x"] = i
    out[i] = x["x"]
"""


@pytest.mark.parametrize("expression", ["b | {'q': 1}", "{'q': 1} | b", "-b", "b < i"])
@pytest.mark.parametrize(
    ("method", "shares"),
    [
        ("return self", True),
        ("return self.inner[0]", True),
        ("return self or {}", True),
        ("me = self; return None if self.x else me", True),
        ("return Box(self)", False),
        ("made = Box(); made.update(self); return made", False),
        ("return NotImplemented", False),
    ],
)
def test_what_a_method_returns_decides(expression: str, method: str, shares: bool) -> None:
    [(_, findings)] = results_of(PROGRAM.format(method=method, expression=expression))
    errors = [finding.code for finding in findings if finding.severity is Severity.ERROR]
    assert bool(errors) is shares, findings


def test_other_operators_give_new_objects() -> None:
    [(_, findings)] = results_of(PROGRAM.format(method="return self", expression="b & {}"))
    assert not [finding for finding in findings if finding.severity is Severity.ERROR]
