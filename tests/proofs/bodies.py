"""Random function bodies over a few names, for flow analyses: nested branches and loops with jumps.

`try`, `match` and `else` of loops are left out: there beniget takes paths that do not exist.
"""

from __future__ import annotations

import random

__all__ = ["NAMES", "body_of"]

NAMES = ("a", "b", "c", "d")


class _Bodies:
    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)

    def block(self, depth: int, inside: bool) -> list[str]:
        """A few statements; ``inside`` a loop of the body, where jumps may stand."""
        lines: list[str] = []
        for _ in range(self._rng.randint(1, 3)):
            lines += self.statement(depth, inside)
        return lines

    def name(self) -> str:
        return self._rng.choice(NAMES)

    def value(self) -> str:
        one, other = self.name(), self.name()
        forms = ("i", "0", one, f"{one} + {other}", f"xs[{one}]", f"(lambda k: k + {one})(i)",
                 f"sum(k + {one} for k in xs)", f"[k for k in xs if k > {one}][0]", f"({one} := i) + {other}",
                 f"{one} if i else {other}", f"{one} and {other}", f"len(f'{{{one}}}')")  # fmt: skip
        return self._rng.choice(forms)

    def statement(self, depth: int, inside: bool) -> list[str]:
        kinds = ["assign"] * 4 + ["augmented", "tuple", "expression"]
        kinds += ["if", "if", "ifelse", "for", "while", "with"] if depth else []
        kind = self._rng.choice(kinds)
        if inside and self._rng.random() < 0.12:
            return [f"if {self.name()}:", f"    {self._rng.choice(('break', 'continue'))}"]
        return getattr(self, f"_{kind}", self._simple)(kind, depth, inside)  # type: ignore[no-any-return]

    def _simple(self, kind: str, depth: int, inside: bool) -> list[str]:
        name = self.name()
        forms = {
            "assign": f"{name} = {self.value()}",
            "augmented": f"{name} += {self.value()}",
            "tuple": f"{name}, {self.name()} = {self.value()}, {self.value()}",
            "expression": f"xs[{name}] = {self.value()}",
        }
        return [forms[kind]]

    def _in(self, head: str, depth: int, inside: bool) -> list[str]:
        return [head, *("    " + line for line in self.block(depth - 1, inside))]

    def _if(self, kind: str, depth: int, inside: bool) -> list[str]:
        return self._in(f"if {self.value()}:", depth, inside)

    def _ifelse(self, kind: str, depth: int, inside: bool) -> list[str]:
        return [*self._if(kind, depth, inside), *self._in("else:", depth, inside)]

    def _for(self, kind: str, depth: int, inside: bool) -> list[str]:
        return self._in(f"for {self.name()} in range({self.value()}):", depth, True)

    def _while(self, kind: str, depth: int, inside: bool) -> list[str]:
        return self._in(f"while {self.name()} < 3:", depth, True)

    def _with(self, kind: str, depth: int, inside: bool) -> list[str]:
        return self._in(f"with manager({self.value()}) as {self.name()}:", depth, inside)


def body_of(seed: int) -> list[str]:
    """The lines of a body, indented by nothing."""
    return _Bodies(seed).block(2, False)
