"""Why ranks cannot share a loop that contributes to these values: another name leads to them, or no order.

Each rank has a stand-in for what it contributes to; what it contributes arrives after the loop. So nothing
else that iterations reach may be such an object, or an item to which they add.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Number
from typing import Any

import numpy as np

from dlbrt.data.hazard import items_reached, reached_otherwise
from dlbrt.data.spans import Spans
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.root.payload import Payload
from dlbrt.mpi.team import SingleRank
from dlbrt.reductions.contributions import LoopContributions, selectable
from dlbrt.reductions.kinds import ContributionForm, ContributionKind

#: Values that no operation changes, so that other references to them do no harm.
_UNCHANGING = (Number, str, bytes, tuple, frozenset, type(None))


def selection_obstacle(known: LoopContributions) -> str | None:
    """A value to begin with that ranks cannot compare with others; None if there is none."""
    for name, kind in known.kinds.items():
        if not selectable(kind, known.values[name]):
            what = f"the part {kind.by} of what {name} starts from is missing, or" if kind.by else ""
            return f"{what or f'what {name} starts from'} has no order that ranks could choose by"
    return None


def contribution_obstacle(
    loop: LoopContext, payload: Payload, containers: Iterable[Any], names: Mapping[str, Any]
) -> str | None:
    """A value that iterations contribute to and reach otherwise; None if there is none.

    ``containers`` are what the loop runs over, ``names`` the loop's own.
    """
    known = loop.contributions
    if reason := selection_obstacle(known) or payload.holder_obstacle():
        return reason
    stays = _settled(loop, payload)
    changing = {name: value for name, value in known.values.items() if name in known.kinds}
    changing = {name: value for name, value in changing.items() if not isinstance(value, _UNCHANGING)}
    changing = {n: v for n, v in changing.items() if not (_is_selected(known.kinds[n], v) and stays(v))}
    met = [*payload.objects.known.objects, *containers] if changing else ()
    reason = reached_otherwise(changing, payload.fields, payload.arrays(), met, names)
    for name in (n for n in changing if _is_selected(known.kinds[n], changing[n])):
        if reason is not None and reason.startswith(f"{name} is also reached"):
            return f"{name} is an object that iterations may change: begin with None, or a copy of it"
    grouped = {name: known.values[name] for name, kind in known.kinds.items() if kind.by_item}
    return reason or items_reached(grouped, met, names)


def _is_selected(kind: ContributionKind, value: Any) -> bool:
    """Whether iterations choose the best object; rows of arrays have memory that others may change."""
    return kind.form is ContributionForm.SELECTION and not isinstance(value, np.ndarray)


def _settled(loop: LoopContext, payload: Payload) -> Callable[[Any], bool]:
    """Tells of the best object so far whether the iterations to come leave it as it is.

    None of them changes an object, or it is an element of a list that an iteration which is done has changed,
    as no other one does.
    """
    kinds, values = loop.contributions.kinds, loop.contributions.values
    others = {n: k for n, k in kinds.items() if k.form is not ContributionForm.SELECTION}
    grown = {n for n, k in others.items() if k.form is ContributionForm.ADDED and not k.by_item}
    if not all((k.bound and n.isidentifier()) or n in grown for n, k in others.items()):
        return lambda _: False  # a contribution may change it
    stored = {id(values[name]) for name in grown}
    stored |= {id(field.data) for field in payload.fields if field.spec.stores}
    if not (loop.unseen_calls or any(field.spec.in_place for field in payload.fields)):
        return lambda value: id(value) not in stored
    if not isinstance(loop.team, SingleRank):
        return lambda _: False
    lists = [field for field in payload.fields if type(field.data) is list and field.spec.in_place]
    rows = ((field, run) for field in lists for run in field.stored(Spans.of(*loop.team.figures.parts)))
    settled = {id(field.data[row]) for field, run in rows for row in run}
    return lambda value: id(value) in settled
