"""The verdict agrees with brute force: 2 000 random nests, by default 200, and none accepted with a conflict.

Each nest is enumerated for several sizes. An acceptance claims of every size for which the plan's guards hold
that no two iterations conflict, and that an array's rows, as the table of the emitted program states them,
hold what each iteration touches. Where a subscript is negative, which in Python counts from the end, nothing
is claimed: the run time looks at that. Of arrays whose rows the run time inspects the rows alone are claimed.
In the other direction: of the affine nests that have no conflict at any size at least nine in ten are
accepted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import pytest
from dlbrt.contract import Distribution

from dlbc.ir.plan import ArrayPlan, LoopPlan
from tests.proofs.nests import SIZES, Nest, Touch, nest_of
from tests.proofs.verdicts import verdict_of
from tests.support.tier import is_full

NESTS = 2000 if is_full() else 50
BATCH = 50

#: Of the affine nests without a conflict, the part that must be accepted.
LEAST_RATE = 0.9


@dataclass(frozen=True, slots=True)
class Judged:
    """A nest, its plan or None, and whether it has a conflict; None where
    none is seen and some sizes have negative subscripts."""

    nest: Nest
    plan: LoopPlan | None
    conflicts: bool | None


def conflict(touches: Iterable[Touch]) -> tuple[Touch, Touch] | None:
    """Two touches of an element by different iterations, one of which stores."""
    seen: dict[tuple[str, tuple[int, ...]], list[Touch]] = {}
    for touch in touches:
        others = seen.setdefault((touch.array, touch.at), [])
        for other in others:
            if other.i != touch.i and (other.stores or touch.stores):
                return other, touch
        others.append(touch)
    return None


def positive(touches: Iterable[Touch]) -> bool:
    return all(k >= 0 for touch in touches for k in touch.at)


@cache
def judged(batch: int) -> tuple[Judged, ...]:
    """The nests of a batch, planned as the functions of one module."""
    nests = [nest_of(seed) for seed in range(batch * BATCH, (batch + 1) * BATCH)]
    plans = verdict_of("\n\n".join(nest.text for nest in nests)).plans
    return tuple(Judged(n, p, has_conflict(n)) for n, p in zip(nests, plans, strict=True))


def has_conflict(nest: Nest) -> bool | None:
    found = [nest.touches(n, m) for n, m in SIZES]
    known = [touches for touches in found if positive(touches)]
    if any(conflict(touches) for touches in known):
        return True
    return False if len(known) == len(SIZES) and any(found) else None


def broken_claims(judgement: Judged) -> Iterator[str]:
    """What the plan claims and enumeration refutes."""
    plan = judgement.plan
    assert plan is not None
    for n, m in SIZES:
        touches = judgement.nest.touches(n, m)
        names = {"n": n, "m": m}
        if positive(touches) and all(eval(guard, dict(names)) for guard in plan.guards):
            yield from (f"n={n}, m={m}: {what}" for what in _broken(plan, judgement.nest, touches, names))


def _broken(plan: LoopPlan, nest: Nest, touches: Sequence[Touch], names: dict[str, int]) -> Iterator[str]:
    ordered = {container.name for container in plan.ordered}
    combined = {reduction.name for reduction in plan.reductions} | ordered
    if plan.reductions and not nest.updates:
        yield f"{combined} are taken as reductions and are not only updated"
    if any(t.array in ordered and not t.stores for t in touches):
        yield f"{ordered} are kept in iteration order and read as well"
    inspected = {array.name for array in plan.arrays if array.inspect}
    met = conflict(t for t in touches if t.array not in combined | inspected)
    if met:
        yield f"accepted, but {met[0]} and {met[1]} meet"
    for array in plan.arrays:
        if array.axis is not None and array.name not in combined:
            yield from _uncovered(array, [t for t in touches if t.array == array.name], names)


def _uncovered(array: ArrayPlan, touches: Sequence[Touch], names: dict[str, int]) -> Iterator[str]:
    """Touches outside the rows of the table; where every rank has all, only stores are bound to rows."""
    assert array.axis is not None
    everywhere = array.distribution is Distribution.WHOLE
    for touch in touches:
        if everywhere and not touch.stores:
            continue
        texts = array.writes if touch.stores and array.writes is not None else array.rows
        row = touch.at[array.axis]
        if not any(row in _rows(text, names | {"i": touch.i}) for text in texts or ("i",)):
            yield f"{touch} is outside the rows {texts} of {array.name}"
            return


def _rows(text: str, names: dict[str, int]) -> set[int]:
    value = eval(text, dict(names))
    found: set[int] = set()
    for part in value if isinstance(value, tuple) else (value,):
        found |= set(range(part.start or 0, part.stop, part.step or 1)) if isinstance(part, slice) else {part}
    return found


@pytest.mark.parametrize("batch", range(NESTS // BATCH))
def test_no_nest_is_accepted_that_has_a_conflict(batch: int) -> None:
    wrong = []
    for judgement in judged(batch):
        if judgement.plan is not None:
            wrong += [f"{judgement.nest.text}\n{claim}\n" for claim in list(broken_claims(judgement))[:1]]
    assert not wrong, "\n".join(wrong)


def everything() -> list[Judged]:
    return [judgement for batch in range(NESTS // BATCH) for judgement in judged(batch)]


def test_the_nests_are_of_all_kinds() -> None:
    found = everything()
    assert sum(j.conflicts is True for j in found) >= NESTS / 5
    assert sum(j.conflicts is False and j.nest.affine for j in found) >= 3 * NESTS / 20
    assert sum(j.conflicts is False and not j.nest.affine for j in found) >= NESTS / 20


def test_independent_affine_nests_are_accepted(record_property: pytest.RecordProperty) -> None:
    independent = [j for j in everything() if j.conflicts is False]
    affine = [j for j in independent if j.nest.affine]
    missed = [j.nest.text for j in affine if j.plan is None]
    rates = [
        f"{sum(j.plan is not None for j in some)} of {len(some)} {what}"
        for what, some in (("independent nests", independent), ("independent affine nests", affine))
    ]
    record_property("accepted", "; ".join(rates))
    print("accepted: " + "; ".join(rates))
    assert len(missed) <= (1 - LEAST_RATE) * len(affine), "\n".join([*rates, "", *missed[:40]])
