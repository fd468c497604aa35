"""Checkpoints of arrays that stay on ranks: whichever die, rank 0 has the arrays of the sequential program.

The workers of `Ranks` are arrays in this process. A death takes those of all workers, since what living ones
have is forgotten as well.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from dlbrt import BLOCK, WHOLE
from dlbrt.data.field import put, take
from dlbrt.data.footprint import Rows
from dlbrt.data.memory import Array
from dlbrt.data.space import space_of
from dlbrt.data.spans import Spans
from dlbrt.emulation import Load
from dlbrt.mpi.communicator import RanksLostError
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.perform import RankResult, perform
from dlbrt.mpi.routines.checkpoints import Checkpoints, LostRowsError, run_alone
from dlbrt.mpi.routines.loop_residents import ArrayTransfer, LoopResidents
from dlbrt.mpi.routines.resident_arrays import ResidentArrays
from dlbrt.mpi.team import RunCounters, SingleRank, Team
from hypothesis import given, settings
from hypothesis import strategies as st

ROWS, COLUMNS = 12, 5
Kernel = Callable[..., None]


def smooth(dlb: Any, v: Array, u: Array, factor: float) -> None:
    dlb.arrays(v=BLOCK(0, "w"), u=BLOCK(0, "r", rows=lambda i: (i - 1, i + 1)))
    dlb.scatter()
    while dlb.more_work:
        for i in dlb.iterations():
            v[i, :] = (u[i - 1, :] + u[i + 1, :]) * factor
        dlb.synchronize()
    dlb.gather()


def in_place(dlb: Any, v: Array, factor: float) -> None:
    dlb.arrays(v=BLOCK(0, "rw"))
    dlb.scatter()
    while dlb.more_work:
        for i in dlb.iterations():
            v[i, :] = v[i, :] * factor + i
        dlb.synchronize()
    dlb.gather()


def columns(dlb: Any, v: Array, u: Array, factor: float) -> None:
    dlb.arrays(v=BLOCK(1, "rw"), u=WHOLE("r"))
    dlb.scatter()
    while dlb.more_work:
        for j in dlb.iterations():
            v[:, j] += u[:, 0] * factor
        dlb.synchronize()
    dlb.gather()


class Ranks:
    """What stands for `RootRuntime` and its communicator; ``ranks`` live."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.communicator = self.publisher = self.options = self
        self.tolerates_deaths, self.leading, self.threads = True, False, 1
        self.tokens = itertools.count(1)
        self.restorers: list[Callable[[], None]] = []
        self.memories: list[dict[int, Array]] = [{} for _ in range(ranks)]  # of workers, by token
        self.dies_in_fetch = False
        self.fetched = 0

    def drop(self, token: int) -> None:
        for memory in self.memories:
            memory.pop(token, None)

    def fail(self, error: BaseException) -> None:
        raise error

    def lose(self, living: int) -> None:
        """All but so many ranks die, and the living forget what they have."""
        self.ranks, self.memories = living, [{} for _ in range(living)]
        self.tokens = itertools.count(1)
        for restore in [*self.restorers]:
            restore()

    def fetch(self, transfers: Sequence[ArrayTransfer], fields: Mapping[int, Any]) -> None:
        self.fetched += 1
        if self.dies_in_fetch and self.ranks > 1:
            self.dies_in_fetch = False
            self.lose(self.ranks - 1)
            return
        for each in transfers:
            self.carry(each, fields[each.number].data)

    def carry(self, each: ArrayTransfer, at_root: Array) -> None:
        """Copy the rows of a transfer."""
        rows, source = each.row_transfer.rows, each.row_transfer.source
        sent = at_root if source == 0 else self.memories[source][each.number]
        for target in each.row_transfer.targets:
            made = np.full_like(at_root, np.nan)
            got = at_root if target == 0 else self.memories[target].setdefault(each.number, made)
            if each.across is None:
                put(got, each.axis, rows, take(sent, each.axis, rows).copy())
            else:
                block = np.ix_(*(_places(axis, sent, each) for axis in range(2)))
                got[block] = sent[block]


def _places(axis: int, array: Array, each: ArrayTransfer) -> list[int]:
    assert each.across is not None
    rows: Rows = {each.axis: each.row_transfer.rows, each.across[0]: each.across[1]}[axis]
    return [row for run in rows for row in run]


class Routine:
    """A routine on `Ranks` with checkpoints, and its arrays as the sequential program has them."""

    def __init__(self, ranks: int, every: int) -> None:
        self.ranks = Ranks(ranks)
        self.residents = ResidentArrays(self.ranks)  # type: ignore[arg-type]
        forgotten: list[int] = []
        self.forgotten = forgotten
        self.checkpoints = Checkpoints(
            self.ranks,  # type: ignore[arg-type]
            self.residents,
            every,
            lambda: forgotten.append(1),
            run_alone,
        )
        start = np.arange(ROWS * COLUMNS, dtype=float).reshape(ROWS, COLUMNS) / 7
        self.u, self.v = start.copy(), start[::-1].copy()
        self.expected_u, self.expected_v = self.u.copy(), self.v.copy()

    def run(
        self,
        kernel: Kernel,
        values: range,
        arguments: tuple[Any, ...],
        *,
        turn: int = 0,
        dies: str = "",
        fails: bool = False,
    ) -> None:
        """A run of a loop in equal blocks, of which rank 0 has that with the number ``turn``.

        A rank dies ``before`` rows have travelled, or ``after`` rank 0 has done its part.
        """
        space = space_of(values)
        names = kernel.__code__.co_varnames[1 : kernel.__code__.co_argcount]
        given = dict(zip(names, arguments, strict=True))
        positions = range(len(values))
        count = self.ranks.ranks
        blocks = [
            positions[len(positions) * k // count : len(positions) * (k + 1) // count] for k in range(count)
        ]
        turned = turn % count
        shares = blocks[turned:] + blocks[:turned]
        found: list[LoopResidents] = []

        def launch(loop: LoopContext) -> Team:
            if count > 1:
                fields = loop.table.fields(given, space)
                found.append(self.checkpoints.admit(loop, kernel, given, fields))
                if self.ranks.ranks == count and found[0].logged is not None:
                    self.checkpoints.begin(found[0], 0)
                    transfers = self._delivered(found[0], shares)
                    if dies == "before":
                        raise RanksLostError
                    for each in transfers:
                        self.ranks.carry(each, found[0].arrays()[each.number].data)
                    return SingleRank(Spans.of(shares[0]))
            if count > 1:
                for value in given.values():  # as `fetch_for_root` has it
                    self.residents.ensure_valid(value, writing=True)
            return SingleRank(Spans.of(positions))

        loop = LoopContext(space, launch, lambda _: None, Load.none())
        try:
            perform(loop, kernel, arguments)
        except RanksLostError:
            self.ranks.lose(count - 1)
            _do(kernel, values, arguments, positions)
            return
        if not found or found[0].logged is None or len(loop.team.figures.done) == len(positions):
            return
        own = RankResult(RunCounters(parts=[shares[0]] if shares[0] else []), {}, None)
        if dies == "after":
            self.checkpoints.has_stored(found[0], own)
            self.ranks.lose(count - 1)
            for share in shares[1:]:
                _do(kernel, values, arguments, share)
            return
        results = [own]
        for rank, share in enumerate(shares[1:], 1):
            theirs = [self._on(rank, found[0], each) for each in arguments]
            _do(kernel, values, theirs, share)
            results.append(RankResult(RunCounters(parts=[share] if share else []), {}, None))
        for key, resident in found[0].residents.items():
            rows = [found[0].stores(key, lambda f, done: f.stored(done), r.figures.done) for r in results]
            resident.directory.stored(rows)
        if fails:
            failure: Any = object()
            results[0] = RankResult(results[0].figures, {}, failure)
        self.checkpoints.finished(kernel.__name__, results)

    def _delivered(self, found: LoopResidents, shares: Sequence[range]) -> list[ArrayTransfer]:
        transfers: list[ArrayTransfer] = []
        for key in found.residents:
            needs = [found.needs(key, Spans.of(share), whole=False) if share else () for share in shares]
            transfers += found.deliver(key, needs)
        return transfers

    def _on(self, rank: int, found: LoopResidents, value: Any) -> Any:
        if value not in found:
            return value
        token = found.tokens[id(value)]
        return self.ranks.memories[rank].setdefault(token, np.full_like(value, np.nan))

    def holds_at_its_end(self) -> bool:
        """End the routine: whether its arrays are those of the sequential program."""
        self.residents.release_all()
        return np.array_equal(self.u, self.expected_u) and np.array_equal(self.v, self.expected_v)


def _do(kernel: Kernel, values: range, arguments: Sequence[Any], share: range) -> None:
    """Iterations of a loop in this process."""
    loop = LoopContext(space_of(values), lambda _: SingleRank(Spans.of(share)), lambda _: None, Load.none())
    perform(loop, kernel, arguments)
    assert loop.ending.error is None, loop.ending.error


#: What happens in a routine: runs of loops, in some of which ranks die, and what the program does in between.
RUNS = st.tuples(
    st.sampled_from(["smooth", "in place", "columns", "every other row"]),
    st.sampled_from([*[""] * 9, "before", "after"]),
    st.integers(0, 5),
    st.floats(0.25, 1.5),
)
BETWEEN = st.tuples(
    st.sampled_from([*["read", "store", "swap"] * 3, "store all", "new", "die", "die in fetch"]),
    st.integers(0, ROWS - 1),
)
EVENTS = st.one_of(RUNS, RUNS, BETWEEN)


@settings(max_examples=500, deadline=None)
@given(st.integers(2, 6), st.sampled_from([1, 3, 10]), st.lists(EVENTS, min_size=3, max_size=30))
def test_whenever_ranks_die_the_arrays_are_those_of_the_sequential_program(
    ranks: int, every: int, events: list[tuple[Any, ...]]
) -> None:
    routine = Routine(ranks, every)
    for event in events:
        _happens(routine, event)
    assert routine.holds_at_its_end()


def _happens(routine: Routine, event: tuple[Any, ...]) -> None:
    kind = event[0]
    if len(event) == 4:
        _run(routine, *event)
    elif kind == "read":
        routine.residents.ensure_valid(routine.u, (event[1],))
        np.testing.assert_array_equal(routine.u[event[1]], routine.expected_u[event[1]])
    elif kind == "store":
        routine.residents.ensure_valid(routine.v, (event[1],), writing=True)
        routine.v[event[1]] = routine.expected_v[event[1]] = event[1] * 1.25
    elif kind == "store all":
        routine.residents.ensure_valid(routine.u, writing=True)
        routine.u += 0.5
        routine.expected_u += 0.5
    elif kind == "swap":
        routine.u, routine.v = routine.v, routine.u
        routine.expected_u, routine.expected_v = routine.expected_v, routine.expected_u
    elif kind == "new":
        routine.residents.ensure_valid(routine.u)
        routine.v, routine.expected_v = routine.u * 0.5, routine.expected_u * 0.5
    elif kind == "die in fetch":
        routine.ranks.dies_in_fetch = True
    elif routine.ranks.ranks > 1:
        routine.ranks.lose(routine.ranks.ranks - 1)


def _run(routine: Routine, name: str, dies: str, turn: int, factor: float) -> None:
    u, v, one, other = routine.u, routine.v, routine.expected_u, routine.expected_v
    runs: dict[str, tuple[Kernel, range, tuple[Any, ...], tuple[Any, ...]]] = {
        "smooth": (smooth, range(1, ROWS - 1), (v, u, factor), (other, one, factor)),
        "in place": (in_place, range(ROWS), (v, factor), (other, factor)),
        "columns": (columns, range(COLUMNS), (v, u, factor), (other, one, factor)),
        "every other row": (in_place, range(0, ROWS, 2), (u, factor), (one, factor)),
    }
    kernel, values, arguments, expected = runs[name]
    routine.run(kernel, values, arguments, turn=turn, dies=dies)
    _do(kernel, values, expected, range(len(values)))


def test_a_checkpoint_bounds_what_is_run_again_and_brings_rows_home_every_so_many_passes() -> None:
    routine = Routine(4, 3)
    for _ in range(7):
        _run(routine, "in place", "", 0, 1.5)
    assert routine.ranks.fetched == 2  # before the fourth run and the seventh
    assert routine.holds_at_its_end()
    assert routine.ranks.fetched == 3


def test_ranks_that_die_just_after_a_run_has_failed_end_the_job() -> None:
    routine = Routine(3, 2)
    routine.ranks.dies_in_fetch = True
    with pytest.raises(LostRowsError, match="had failed"):
        routine.run(in_place, range(ROWS), (routine.v, 0.5), fails=True)


def test_a_run_that_failed_leaves_all_rows_at_rank_0() -> None:
    routine = Routine(3, 2)
    routine.run(in_place, range(ROWS), (routine.v, 0.5), fails=True)
    _do(in_place, range(ROWS), (routine.expected_v, 0.5), range(ROWS))
    routine.ranks.lose(1)
    assert routine.forgotten
    assert routine.holds_at_its_end()
