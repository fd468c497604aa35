"""The model's inputs at a synchronization or a survey, and the choice by them.

This module is apart from `dlbrt.balance.chooser`, so that a program starts without the model, which is
imported when it is needed for the first time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dlbrt.balance.group_state import BalancingContext, GroupState
from dlbrt.balance.messages import SLICES, Profile, WorkReport
from dlbrt.balance.strategies import UNCHOSEN
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import WorkTable
from dlbrt.predict.choose import OTHERS, StrategyChoice, choose
from dlbrt.predict.effective_speed import LoadForecast
from dlbrt.predict.groups import Groups
from dlbrt.predict.inputs import ModelInputs
from dlbrt.predict.network import Network
from dlbrt.predict.redistribute import ModelOptions
from dlbrt.predict.work import IterationCosts, Runs


def chosen(
    group_state: GroupState,
    profiles: Sequence[Profile],
    speeds: Sequence[float],
    groups: Groups,
    networks: tuple[Network, tuple[Network, ...]],
) -> StrategyChoice:
    """The strategy for what is left, by the present ``speeds``.

    ``networks`` are those among all ranks and in each of the ``groups``, slowed by the lateness found.
    """
    now = speeds, [profile.slices for profile in profiles], group_state.history.computed_s
    known = _inputs(group_state.shares, group_state.context, now, groups, networks)
    return choose(known, others=OTHERS)


def chosen_by_survey(
    reports: Sequence[WorkReport],
    context: BalancingContext,
    speeds: Sequence[float],
    groups: Groups,
    networks: tuple[Network, tuple[Network, ...]],
    *,
    stays: bool,
) -> StrategyChoice:
    """The choice at a survey, by the ``speeds`` of ranks that steal; ``stays``: they do so in any case."""
    now = speeds, [each.slices for each in reports], max(each.compute_s for each in reports)
    inputs = _inputs([each.work for each in reports], context, now, groups, networks)
    return choose(inputs, others=OTHERS, current=UNCHOSEN, stays=stays)


def _inputs(
    shares: Sequence[Spans],
    context: BalancingContext,
    now: tuple[Sequence[float], Sequence[Sequence[float]], float],
    groups: Groups,
    networks: tuple[Network, tuple[Network, ...]],
) -> ModelInputs:
    """What the model needs; ``now`` are the speeds of ranks, those in slices of their time, and that time."""
    work, held = _work(shares, context.work_table)
    speeds, slices, elapsed_s = now
    return ModelInputs(
        elapsed_s=elapsed_s,
        work=work,
        held=held,
        speeds=tuple(speeds),
        history=_history(slices, speeds, elapsed_s),
        groups=groups,
        network=networks[0],
        within=networks[1],
        iteration_bytes=context.unit_bytes,
        without_rows=context.without_rows,
        rules=ModelOptions(
            profitability=context.parameters.profitability,
            min_moved=context.parameters.min_moved,
            charged=True,
            parallel=True,
            reserves=True,
        ),
    )


#: Tables of at most this many units are written out: a choice looks up some thousand units.
MAX_WRITTEN = 4096


class _Prefix(Sequence[int]):
    """The work before a unit, computed as the model looks it up, within the table's edges only."""

    def __init__(self, work_table: WorkTable) -> None:
        self._work_table = work_table
        self._found: dict[int, int] = {}

    def __len__(self) -> int:
        return self._work_table.edges[-1] + 1

    def __getitem__(self, unit: int) -> int:  # type: ignore[override]
        found = self._found.get(unit)
        if found is None:
            found = self._found[unit] = self._work_table.before(unit)
        return found


def prefix(work_table: WorkTable) -> Sequence[int]:
    """The work before each unit, by a table that is not empty: written out where the table is small."""
    edges, prefix = work_table.edges, work_table.prefix
    if edges == tuple(range(len(edges))):
        return prefix
    if edges[-1] >= MAX_WRITTEN:
        return _Prefix(work_table)
    written = [prefix[0]] * edges[0]
    for (low, high), (begin, end) in zip(pairwise(edges), pairwise(prefix), strict=True):
        written += [begin + (end - begin) * unit // (high - low) for unit in range(high - low)]
    return (*written, prefix[-1])


def _work(shares: Sequence[Spans], work_table: WorkTable) -> tuple[IterationCosts, tuple[Runs, ...]]:
    """What is left, in quanta, and who holds it.

    Where iterations are dealt in turn each share has a bit of everything: all units then count as alike.
    """
    dealt = any(run.step > 1 for spans in shares for run in spans.runs)
    if not (work_table.uniform or dealt):
        held = tuple(tuple((run.start, run.stop) for run in spans.runs) for spans in shares)
        return IterationCosts(1.0, prefix(work_table)), held
    mean = (sum(map(work_table.of, shares)) or 1) / sum(map(len, shares))
    return IterationCosts(mean), tuple(((0, len(spans)),) if spans else () for spans in shares)


def _history(slices: Sequence[Sequence[float]], speeds: Sequence[float], elapsed_s: float) -> LoadForecast:
    """The speeds of each rank in slices of its time so far; its present speed in a slice without work."""
    known = tuple(
        tuple(seen if seen > 0 else speed for seen in own) for own, speed in zip(slices, speeds, strict=True)
    )
    return LoadForecast(known, max(elapsed_s, 1e-9) / SLICES)
