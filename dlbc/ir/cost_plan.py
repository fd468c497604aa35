"""What a program says of the work of a loop's iterations, and whether they are dealt in pairs.

A cost is evaluated once, before the loop: as a function of the index, which may be a vector of its values;
item by item, where the expression cannot be seen to take a vector; as cumulative work t(x), which may be
asked for between values of the index; or as samples (x, t) through which a curve is fitted (Swartz, 3).
"""

from __future__ import annotations

import ast
from enum import Enum

from dlbrt.records import dataclass

from dlbc.ir.form import Variable
from dlbc.ir.work import WorkPolynomial
from dlbc.ir.work_text import Notation, text_of

__all__ = ["CostPlan", "CostShape", "FoldDecision", "target_text"]


class CostShape(Enum):
    """How a cost is evaluated; the value is the keyword of the call that says so."""

    VECTOR = ""
    EACH = "each"
    CUMULATIVE = "cumulative"
    FIT = "fit"


class FoldDecision(Enum):
    """Whether the iterations t and n - 1 - t go together, and by whose word."""

    NO = "no"
    DEFAULT = "by default"
    FORCED = "by the clause `fold`"


@dataclass(frozen=True)
class CostPlan:
    """A cost as it is emitted: a derived one in the kernel, the user's at the call.

    ``target`` is the parameter of the function, of EACH the target of the loop, both as the user writes them;
    ``text`` the expression of a clause. A derived cost has ``work`` over ``index`` in its place; where it is
    an estimate that may fall below 1 (``floored``) it is kept from that. ``bound`` are names in it that stand
    for calls, with these. ``names`` are what it reads from around the loop, functions and imports of the
    module apart.
    """

    shape: CostShape
    target: str
    text: str = ""
    work: WorkPolynomial | None = None
    index: Variable | None = None
    clamped: bool = False
    bound_calls: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = ()

    @property
    def derived(self) -> bool:
        """Whether the compiler found it, not the user."""
        return self.work is not None

    @property
    def uses_numpy(self) -> bool:
        """Whether the expression calls functions of numpy that the user did not write."""
        return self.expression("np") != self.expression("numpy")

    def expression(self, numpy: str) -> str:
        """The expression, with numpy under this name."""
        if self.work is None or self.index is None:
            return self.text
        if self.shape is not CostShape.VECTOR:
            least = text_of(self.work, self.index)
            return f"max({least}, 1)" if self.clamped else least
        found = text_of(self.work, self.index, Notation.NUMPY, numpy)
        return f"{numpy}.maximum({found}, 1)" if self.clamped else found


def target_text(node: ast.expr) -> str:
    """A loop's target as one writes it: without the brackets of a tuple."""
    text = ast.unparse(node)
    return text[1:-1] if isinstance(node, ast.Tuple) and node.elts else text
