"""How a loop contributes to a value: the words of ``dlb.reductions`` and ``dlb.ordered``.

A kind is one string: an operator, in brackets where elements of a container are updated, then words.
``"+"``, ``"+ each"``, ``"+ any"``, ``"max reflected"``, ``"[+] int"``; a comparison is followed by the
companions of a selection: ``"< where row"``. ``grows``: updates may add elements (``d.get(k, 0) + 1``).
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from dlbrt.records import dataclass

__all__ = ["ARITHMETIC", "COMPARISONS", "ORDERED", "Form", "Kind", "is_decided", "parse"]

ARITHMETIC = ("+", "-", "*", "&", "|", "^")
COMPARISONS = ("<", "<=", ">", ">=")
_OPERATORS = (*ARITHMETIC, "max", "min", "and", "or")
_WORDS = frozenset({"each", "any", "int", "grows", "reflected"})


class Form(Enum):
    """What iterations give, and what is kept of it until it is put together."""

    LOGGED = "each operand, with how it was used"
    EXTREME = "the operands that beat those before them on the same rank"
    PER_ITERATION = "one share for each iteration"
    PER_RUN = "one share for each run of iterations"
    SELECTION = "the best value of a run, with what was bound along with it"
    ELEMENTS = "updates of elements"
    ADDED = "calls and stores, as made"


@dataclass(frozen=True, slots=True)
class Kind:
    """One value that a loop contributes to; see `Form` for what is kept."""

    form: Form
    operator: str = ""
    integer: bool = False
    any_order: bool = False
    grows: bool = False
    companions: tuple[str, ...] = ()

    @property
    def bound(self) -> bool:
        """Whether the name is bound anew, so that the loop delivers its value."""
        return self.form not in (Form.ELEMENTS, Form.ADDED)

    @property
    def by_run(self) -> bool:
        """Whether what is kept belongs to a whole run, which therefore must be contiguous."""
        return self.form in (Form.PER_RUN, Form.SELECTION)


#: The kind of a container that the loop only adds to.
ORDERED = Kind(Form.ADDED)


def parse(text: str) -> Kind:
    """The kind that ``text`` spells; ValueError if it spells none."""
    operator, *words = text.split() or [""]
    if operator in COMPARISONS:
        return Kind(Form.SELECTION, operator, companions=tuple(words))
    bare = operator[1:-1] if operator.startswith("[") and operator.endswith("]") else operator
    if bare not in _OPERATORS or not set(words) <= _WORDS:
        raise ValueError(f"expected an operator and words ({', '.join(sorted(_WORDS))}), found {text!r}")
    form = Form.ELEMENTS if bare != operator else _form(bare, words)
    return Kind(form, bare, integer="int" in words, any_order="any" in words, grows="grows" in words)


def is_decided(kind: Kind, value: Any) -> bool:
    """Whether ``value and e``, or ``value or e``, is the value, so that e is not evaluated."""
    if kind.form is not Form.PER_RUN or kind.operator not in ("and", "or"):
        return False
    try:
        return bool(value) == (kind.operator == "or")
    except Exception:  # arrays, or an object's own hook: the loop meets it again at its first iteration
        return False


def _form(operator: str, words: list[str]) -> Form:
    if operator in ("max", "min"):
        return Form.EXTREME
    if operator in ("and", "or") or ("any" in words and operator != "-"):
        return Form.PER_RUN
    # Differences have no identity to start from in every type (sets): each operand is logged.
    return Form.PER_ITERATION if "each" in words and operator != "-" else Form.LOGGED
