"""Ranks in one process: any split of the iterations over them and over runs, and the logs put together."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Mapping
from typing import Any

from dlbrt.reductions.contributions import LoopContributions, describe
from dlbrt.reductions.journal import Journal, Segment
from dlbrt.reductions.kinds import ContributionKind
from dlbrt.reductions.replay import Replay, ReplayFailure, merged
from hypothesis import strategies as st

Body = Callable[[LoopContributions, dict[str, Any], int], None]


@st.composite
def dealings(draw: st.DrawFn, n: int) -> list[list[range]]:
    """For each rank its runs, in the order of execution: each of the n positions in one of them."""
    modulus = draw(st.sampled_from([1, 1, 2, 3]))
    runs = []
    for residue in range(modulus):
        own = range(residue, n, modulus)
        cuts = sorted(draw(st.sets(st.integers(0, len(own)), max_size=4)) | {0, len(own)})
        runs += [own[low:high] for low, high in itertools.pairwise(cuts) if high > low]
    ranks: list[list[range]] = [[] for _ in range(draw(st.integers(1, 4)))]
    for run in draw(st.permutations(runs)):
        ranks[draw(st.integers(0, len(ranks) - 1))].append(run)
    return ranks


def shared(
    kinds: Mapping[str, ContributionKind],
    values: dict[str, Any],
    body: Body,
    dealt: list[list[range]],
    *,
    ordered: tuple[str, ...] = (),
    end: int = 2**53,
    long: int = 1 << 16,
) -> tuple[dict[str, Any], ReplayFailure | None]:
    """Values and fault after ranks did their runs; what comes after position ``end`` does not count.

    ``body`` gets what the names are bound to, and binds them.
    """
    shelves: list[list[Segment]] = []
    extents = []
    first = LoopContributions()
    first.declare(kinds)
    first.declare_ordered(ordered)
    told = {name: describe(kind, values[name]) for name, kind in first.kinds.items()}
    for rank, runs in enumerate(dealt):
        segment_store: list[Segment] = []
        journal = Journal(segment_store.append, long)
        mine = LoopContributions()
        mine.declare(kinds)
        mine.declare_ordered(ordered)
        mine.share(journal, pickle.loads(pickle.dumps(told)))
        pieces = [piece for run in runs for piece in (_ones(run) if mine.singly and run.step > 1 else [run])]
        for piece in pieces:
            _work(mine, journal, body, piece)
        journal.finish()
        extents.append(journal.extents)
        shelves.append(segment_store if rank == 0 else pickle.loads(pickle.dumps(segment_store)))
    replay = Replay(first.kinds, values, None)
    segments = merged(extents, lambda place: shelves[place.rank][place.number], end)
    fault = next(filter(None, map(replay.apply, segments)), None)
    return values, fault


def _ones(run: range) -> list[range]:
    return [run[k : k + 1] for k in range(len(run))]


def _work(mine: LoopContributions, journal: Journal, body: Body, run: range) -> None:
    bound = {name: mine.accumulator(name, run) for name in mine.kinds}
    for done, position in enumerate(journal.marked(iter(run)), 1):
        for name, kind in mine.kinds.items():
            if kind.form.name == "PER_ITERATION":
                bound[name] = mine.accumulate(name, bound[name])
        body(mine, bound, position)
        if journal.is_due:
            journal.cut(run, done)
    mine.reduce(
        {name: value for name, value in bound.items() if name not in mine.kinds or mine.kinds[name].bound}
    )
    mine.end_run()
    journal.end_run(run)
