"""Access paths: a name with the attributes and constant keys that lead from it (Landi, Ryder 1992).

``total``, ``self.total`` and ``best["v"]`` are where iterations may contribute to a value. The text of a path
is an expression, and a target of assignments, in the body and in the kernel alike.
"""

from __future__ import annotations

import ast
import re

from dlbrt.records import dataclass

#: Keys whose text needs no escapes.
_KEY = re.compile(r"[\w .:/-]+")


@dataclass(frozen=True, slots=True)
class AccessPath:
    """The name ``root``, followed by ``steps`` as they are written: ``.total``, ``["v"]``, ``[0]``."""

    root: str
    steps: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The expression."""
        return self.root + "".join(self.steps)

    @property
    def attributes(self) -> frozenset[str]:
        """The attributes on the way."""
        return frozenset(step[1:] for step in self.steps if step.startswith("."))

    @property
    def leads_by_position(self) -> bool:
        """Whether the last step is a position in a list or an array."""
        return bool(self.steps) and self.steps[-1][1:-1].isdigit()

    @property
    def base(self) -> AccessPath:
        """The path without its last step."""
        return AccessPath(self.root, self.steps[:-1])

    def overlaps(self, other: AccessPath) -> bool:
        """Whether one of the two leads through the other."""
        shorter = min(len(self.steps), len(other.steps))
        return self.root == other.root and self.steps[:shorter] == other.steps[:shorter]


def path_of(node: ast.expr) -> tuple[AccessPath, ast.Name] | None:
    """The path that the expression is, with the node of its root; None if it is none."""
    match node:
        case ast.Name(id=name):
            return AccessPath(name), node
        case ast.Attribute(value=value, attr=attr):
            step: str | None = f".{attr}"
        case ast.Subscript(value=value, slice=ast.Constant(value=key)):
            step = _step(key)
        case _:
            return None
    found = path_of(value)
    if found is None or step is None:
        return None
    path, root = found
    return AccessPath(path.root, (*path.steps, step)), root


def _step(key: object) -> str | None:
    if type(key) is int:
        return f"[{key}]"
    return f'["{key}"]' if isinstance(key, str) and _KEY.fullmatch(key) else None


def text_of(node: ast.expr) -> str:
    """A chain of attributes and brackets as the text of a path, whatever its keys are."""
    match node:
        case ast.Attribute(value=value, attr=attr):
            return f"{text_of(value)}.{attr}"
        case ast.Subscript(value=value, slice=key):
            return text_of(value) + bracket_text(key)
    return ast.unparse(node)


def bracket_text(key: ast.expr) -> str:
    """A bracket as a step of a path."""
    constant = _step(key.value) if isinstance(key, ast.Constant) else None
    return constant or f"[{ast.unparse(key)}]"


def path_from(text: str) -> AccessPath:
    """The path with this text."""
    found = path_of(ast.parse(text, mode="eval").body)
    assert found is not None
    return found[0]


def is_part(text: str, whole: str) -> bool:
    """Whether a path leads through the object at the end of another one."""
    return text.startswith((whole + ".", whole + "["))


def root_of(text: str) -> str:
    """The name that a path begins with."""
    return re.split(r"[.\[]", text, maxsplit=1)[0]
