"""Test whether iterations that store into an array are independent.

Law: conservative and syntactic. An array passes if on ONE axis every store has a subscript ``a*i + c`` with
the same literal ``a != 0``, and every access there has the same form or one that differs by a literal ``d``
that no distance between iterations can make up (``d mod a*step != 0``): then two iterations that meet in an
element are one iteration. A dependence is called proved only for two accesses that every iteration makes,
and with two iterations named; everything else merely cannot be excluded. Negative subscripts, which
wrap in Python, and arrays that share memory are the run time's to check: it knows the lengths.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic, Note
from dlbc.ir.access import Access, AccessKind, Subscript
from dlbc.ir.affine import Affine
from dlbc.ir.region import IndexRange, LoopNames
from dlbc.source import Place, Source

__all__ = ["Independence", "test_dependence"]

_TRIES = 64


@dataclass(frozen=True)
class Independence:
    """The array's stores are disjoint along ``axis``; ``assumed`` where the user says so."""

    array: str
    axis: int
    assumed: bool = False


def test_dependence(
    array: str, accesses: Sequence[Access], names: LoopNames, source: Source, assume: bool
) -> Independence | Diagnostic:
    """The verdict on one written array; ``accesses`` are all that may touch it, in document order."""
    writes = [a for a in accesses if a.writes]
    whole = next((a for a in accesses if a.array != array or not a.subscripts), None)
    if whole is not None and whole in writes and _named(whole):
        return _unindexed(array, [whole], names, source)
    if whole is not None:
        return _whole(array, whole, writes[0], source)
    axes = _axes(writes)
    if not axes:
        return _unindexed(array, writes, names, source)
    for axis in axes:
        if all(_apart(w, x, axis, names.space) for w in writes for x in accesses):
            return Independence(array, axis)
    return _conflict(array, writes, accesses, axes[0], names, source) if not assume else (
        _proved(array, writes, accesses, axes[0], names, source) or Independence(array, axes[0], assumed=True)
    )  # fmt: skip


def _axes(writes: Sequence[Access]) -> list[int]:
    depth = min(len(w.subscripts) for w in writes)
    found = []
    for axis in range(depth):
        forms = [w.subscripts[axis].affine for w in writes]
        slopes = {None if f is None else f.coefficient for f in forms}
        if len(slopes) == 1 and slopes <= {s for s in slopes if s}:
            found.append(axis)
    return found


def _step(space: IndexRange | None) -> int:
    """The literal step of the range, else 1, which is what every step is a multiple of."""
    value = 1 if space is None or space.step is None else _literal(space.step)
    return abs(value) if value else 1


def _literal(node: ast.expr | None) -> int | None:
    try:
        value = ast.literal_eval(node) if node is not None else None
    except (ValueError, TypeError, SyntaxError):
        return None
    return value if type(value) is int else None


def _distance(one: Access, other: Access, axis: int) -> int | None:
    """The literal difference of two subscripts of the same slope, or None."""
    if len(other.subscripts) <= axis:
        return None
    left, right = one.subscripts[axis].affine, other.subscripts[axis].affine
    if left is None or right is None or left.coefficient != right.coefficient:
        return None
    return (right - left).constant


def _apart(write: Access, other: Access, axis: int, space: IndexRange | None) -> bool:
    distance = _distance(write, other, axis)
    slope = _slope(write, axis)
    return distance is not None and (distance == 0 or distance % (slope * _step(space)) != 0)


def _slope(access: Access, axis: int) -> int:
    form = access.subscripts[axis].affine
    return abs(form.coefficient) if form is not None else 0


def _conflict(
    array: str,
    writes: Sequence[Access],
    accesses: Sequence[Access],
    axis: int,
    names: LoopNames,
    source: Source,
) -> Diagnostic:
    proved = _proved(array, writes, accesses, axis, names, source)
    if proved is not None:
        return proved
    write, other = next((w, x) for w in writes for x in accesses if not _apart(w, x, axis, names.space))
    note = Note(_place(other, source), f"{other.kind.value} here")
    return report(
        "DLB302", _place(write, source), f"{write.kind.value} here", (note,), array=array, index=names.index
    )


def _proved(
    array: str,
    writes: Sequence[Access],
    accesses: Sequence[Access],
    axis: int,
    names: LoopNames,
    source: Source,
) -> Diagnostic | None:
    for write in writes:
        for other in accesses:
            witness = _witness(write, other, axis, names.space)
            if witness is None:
                continue
            first, second, element = witness
            note = Note(_place(other, source), f"{other.kind.value} in iteration {names.index}={second}")
            label = f"{write.kind.value} in iteration {names.index}={first}"
            low, high = sorted((first, second))
            return report(
                "DLB301", _place(write, source), label, (note,), index=names.index, first=low, second=high,
                array=array, element=element,
            )  # fmt: skip
    return None


def _witness(
    write: Access, other: Access, axis: int, space: IndexRange | None
) -> tuple[int, int, str] | None:
    """Two iterations (of ``write``, of ``other``) that surely meet in an element, and the element."""
    distance, form = _distance(write, other, axis), write.subscripts[axis].affine
    if not (write.sure and other.sure) or not distance or form is None or space is None:
        return None
    if len(write.subscripts) != len(other.subscripts) or distance % form.coefficient:
        return None
    pairs = zip(write.subscripts, other.subscripts, strict=True)
    if not all(k == axis or _same(left, right) for k, (left, right) in enumerate(pairs)):
        return None
    gap = distance // form.coefficient
    pair = _iterations(gap, form, space)
    if pair is None:
        return None
    return *pair, _element(write, axis, pair[0])


def _same(left: Subscript, right: Subscript) -> bool:
    if left.full or right.full:
        return left.full and right.full
    return left.affine is not None and left.affine == right.affine and left.affine.coefficient == 0


def _iterations(gap: int, form: Affine, space: IndexRange) -> tuple[int, int] | None:
    """Values of the index (i, i - gap), both in the range, the element not negative if that can be had."""
    values = _values(space)
    if values is None:
        return None
    pairs = [(i, i - gap) for i in values if i - gap in values]
    offset = form.constant
    good = [p for p in pairs if offset is None or form.coefficient * p[0] + offset >= 0]
    return next(iter(good or pairs), None)


def _values(space: IndexRange) -> range | None:
    """The range with example numbers for what is not literal; None if its step is unknown."""
    step = 1 if space.step is None else _literal(space.step)
    if not step:
        return None
    start, stop = 0 if space.start is None else _literal(space.start), _literal(space.stop)
    if start is None:
        start = 1 if stop is None else stop - _TRIES * step
    if stop is None:
        if step < 0 and _literal(space.start) is None:
            start = _TRIES
        stop = start + _TRIES * step
    return range(start, stop, step)[:4096]


def _element(access: Access, axis: int, at: int) -> str:
    parts = []
    for position, subscript in enumerate(access.subscripts):
        form = subscript.affine
        parts.append(form.shifted_text(at) if position == axis and form is not None else subscript.text)
    return f"{access.array}[{', '.join(parts)}]"


def _whole(array: str, access: Access, write: Access, source: Source) -> Diagnostic:
    note = Note(_place(write, source), "stored to here")
    return report("DLB306", _place(access, source), "all of it is used here", (note,), array=array)


def _unindexed(array: str, writes: Sequence[Access], names: LoopNames, source: Source) -> Diagnostic:
    write = next((w for w in writes if not _moves(w)), writes[0])
    place = _place(write, source)
    if write.kind is AccessKind.UPDATE and not _moves(write) and _direct(write):
        return report("DLB305", place, array=array)
    if names.index is None and names.rebound:
        return report("DLB323", place, array=array, name=min(names.rebound))
    if names.index is None:
        return report("DLB307", place, array=array)
    values = _values(names.space) if names.space is not None else None
    fixed = _complete(write) and all(
        s.full or (s.affine is not None and s.affine.coefficient == 0 and s.integer) for s in write.subscripts
    )
    if write.sure and fixed and values is not None and len(values) > 1:
        return report("DLB303", place, index=names.index, first=values[0], second=values[1],
                      element=f"{array}[{', '.join(s.text for s in write.subscripts)}]")  # fmt: skip
    return report("DLB304", place, array=array, index=names.index)


def _complete(write: Access) -> bool:
    """Whether its subscripts are all that stands in the brackets."""
    if not (isinstance(write.node, ast.Subscript) and _direct(write)):
        return False
    inside = write.node.slice
    return len(write.subscripts) == (len(inside.elts) if isinstance(inside, ast.Tuple) else 1)


def _named(write: Access) -> bool:
    """Whether it stores by subscripts of the array's name."""
    return isinstance(write.node, ast.Subscript) and ast.unparse(write.node).startswith(write.array + "[")


def _direct(write: Access) -> bool:
    """Whether it stores to an element of the array by its name, not through a view or an element."""
    return isinstance(write.node, ast.Subscript) and ast.unparse(write.node.value) == write.array


def _moves(access: Access) -> bool:
    return any(s.affine is not None and s.affine.coefficient for s in access.subscripts)


def _place(access: Access, source: Source) -> Place:
    return source.place_of(access.node)
