"""``for i in dlbrt.balanced(range(n), rows=[A], results=[B])``: a balanced loop in a program written for MPI.

Every rank runs the program and executes the ``for``. Each gets some of the iterations, by the same agents
that balance generated programs. Rank 0 has the arrays: the rows that iterations read come to a rank with the
iterations, and the rows that they store to come back when the loop ends.

Law. Each iteration is done once, on one rank, or the loop ends with an error on every rank that can raise
one. A rank that leaves the loop early reports a failure at position 0, so all ranks drop what they have not
begun (`dlbrt.mpi.driver.AgentDriver.failed`).
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from mpi4py import MPI

from dlbrt.balance.setup import AgentSetup, initial_state
from dlbrt.balance.strategies import AUTO, names, pooled, preload
from dlbrt.chunks.statistics import LoopStatistics
from dlbrt.contract import Distribution, Mode, OptionError, nearest
from dlbrt.data.array_table import ArraySpec
from dlbrt.data.field import Field, has_rows
from dlbrt.data.footprint import IndexMap, union
from dlbrt.data.layout import InitialPartition
from dlbrt.data.space import Space, space_of
from dlbrt.data.spans import Spans, coverage_error
from dlbrt.data.work_table import Units
from dlbrt.emulation import Load
from dlbrt.mpi.communicator import Communicator
from dlbrt.mpi.driver import AgentDriver
from dlbrt.mpi.measuring.network import known
from dlbrt.mpi.mover import Mover
from dlbrt.mpi.team import clock
from dlbrt.mpi.values.objects import RootObjects
from dlbrt.mpi.walk import Walk
from dlbrt.options import Options
from dlbrt.parameters import Parameters
from dlbrt.partition.cost_spec import CostError, CostSpec
from dlbrt.partition.initial import first_shares
from dlbrt.predict.network import Networks
from dlbrt.records import dataclass
from dlbrt.reductions.contributions import LoopContributions

T = TypeVar("T")
Array = np.ndarray[Any, Any]


class LeftEarlyError(RuntimeError):
    """Another rank has left a balanced loop early, by an exception of its body, `return` or `break`."""


def balanced(
    iterable: Iterable[T],
    *,
    rows: Sequence[Array] = (),
    results: Sequence[Array] = (),
    everywhere: bool = False,
    breaks: bool = False,
    strategy: str | None = None,
    weights: Sequence[float] | None = None,
    cost: Callable[[T], float] | None = None,
    comm: MPI.Intracomm | None = None,
) -> Iterator[T]:
    """The items of ``iterable`` that this rank is to do, with the rows that they need.

    All ranks of ``comm`` (default: ``MPI.COMM_WORLD``) execute the same ``for`` over it, with the same
    arguments. Iterations must be independent, and come in any order.

    ``rows``, ``results``: arrays of numbers, with the same shape on every rank. Row i (along the first axis)
    belongs to the item i of a range, and to the i-th item of anything else. Rank 0 has the contents: row i of
    ``rows`` is there when iteration i begins, wherever that is, and after the loop rank 0 has row i of
    ``results`` as its iteration left it. With ``everywhere`` all ranks have them. An array may be in both.
    An iteration may read all that every rank has of its own, and store to its rows of ``results`` alone.

    ``strategy`` is one of ``dlbc run``; ``weights`` are relative speeds, one for each rank; ``cost`` tells
    the work of an item, in any unit, and is called on rank 0. Environment variables stand for what is not
    given (``DLB_STRATEGY``, ``DLB_WEIGHTS``), and ``DLB_GROUP``, ``DLB_LOAD``, ``DLB_SPEEDS`` hold as well.

    A rank that leaves the loop early ends it on all ranks: they finish the iteration that they are in, and
    raise LeftEarlyError; nothing is gathered. With ``breaks`` they leave the loop too, and the results of
    the iterations that were done are gathered.

    Inside another balanced loop a rank does all iterations itself, and so does the only rank there is.

    Raises ValueError on all ranks for arguments that do not fit, or differ from rank to rank; RuntimeError
    in a program that `dlbrt.start` runs on several ranks, whose loops are annotated.
    """
    world = MPI.COMM_WORLD if comm is None else comm
    arrays = _Arrays(tuple(rows), tuple(results))
    if world.Get_size() == 1:
        if problem := arrays.problem(None):
            raise ValueError(problem)
        yield from _all_items(iterable)
        return
    if getattr(sys.modules.get("dlbrt.mpi.session"), "_current", None) is not None:
        raise RuntimeError("dlbrt.balanced in a program that dlbrt.start runs: annotate the loop instead")
    ranks = _Ranks.of(world)
    if ranks.active:
        yield from _all_items(iterable)
        return
    ranks.active = True
    try:
        request = _Request(everywhere, breaks, strategy, tuple(weights or ()))
        loop = _BalancedLoop(ranks, space_of(iterable), arrays, request, cost)
        yield from loop.items()
    finally:
        ranks.active = False


@dataclass(frozen=True, slots=True)
class _Request:
    """The arguments that have to be the same on all ranks."""

    everywhere: bool
    breaks: bool
    strategy: str | None
    weights: tuple[float, ...]


class _Ranks:
    """What the ranks of a communicator have in common, from their first balanced loop on."""

    _keyval: int | None = None

    def __init__(self, world: MPI.Intracomm) -> None:
        self.communicator = Communicator(world)
        comm = self.communicator.comm
        found: Options | str = ""
        if self.communicator.rank == 0:
            try:
                found = Options.read(os.environ, self.communicator.ranks)
            except OptionError as error:
                found = str(error)
        found = comm.bcast(found, root=0)
        if isinstance(found, str):
            raise OptionError(found)
        self.options = found
        self.hosts: list[str] = comm.allgather(MPI.Get_processor_name())
        self.networks: Networks = comm.bcast(known(self.communicator, self.hosts, os.environ), root=0)
        self.serials = itertools.count(1)
        self.active = False

    @classmethod
    def of(cls, world: MPI.Intracomm) -> _Ranks:
        """Those of a communicator, which keeps them; collective at the first call."""
        if cls._keyval is None:
            cls._keyval = MPI.Comm.Create_keyval()
        found = world.Get_attr(cls._keyval)
        if not isinstance(found, cls):
            found = cls(world)
            world.Set_attr(cls._keyval, found)
        return found


@dataclass(frozen=True, slots=True)
class _Arrays:
    """The arrays of a loop."""

    rows: tuple[Array, ...]
    results: tuple[Array, ...]

    @property
    def all(self) -> list[Array]:
        """Each of them once."""
        return list({id(each): each for each in (*self.rows, *self.results)}.values())

    def problem(self, space: Space | None) -> str:
        """Why rows of these arrays cannot travel with the iterations of ``space``; empty if they can."""
        for each in self.all:
            if not has_rows(each) or isinstance(each, list) or not each.ndim:
                return f"rows, results: expected numpy arrays of numbers, found {_described(each)}"
            if not each.flags.writeable and (space is not None or _is_in(each, self.results)):
                return f"rows, results: rows cannot be stored in a read-only {_described(each)}"
        for one, other in itertools.combinations(self.all, 2):
            if np.may_share_memory(one, other):
                return "rows, results: expected arrays without common memory, or one object in both"
        if space is None or not len(space):
            return ""
        least, greatest = sorted((_index(space).value(0), _index(space).value(len(space) - 1)))
        for each in self.all:
            if least < 0 or greatest >= len(each):
                return f"rows, results: items {least} to {greatest} have no rows in a {_described(each)}"
        return ""

    def fields(self, space: Space) -> list[Field]:
        """The arrays with what the iterations do to them."""
        return [
            Field(str(number), each, ArraySpec(Distribution.BLOCK, 0, self._mode(each)), _index(space))
            for number, each in enumerate(self.all)
        ]

    def _mode(self, array: Array) -> Mode:
        if not _is_in(array, self.results):
            return Mode.READ
        return Mode.UPDATE if _is_in(array, self.rows) else Mode.WRITE


class _BalancedLoop:
    """This rank's part in one balanced loop."""

    def __init__(
        self,
        ranks: _Ranks,
        space: Space,
        arrays: _Arrays,
        request: _Request,
        cost: Callable[[Any], float] | None,
    ) -> None:
        self._ranks, self._space, self._request, self._cost = ranks, space, request, cost
        self._communicator = ranks.communicator
        self._check(arrays)
        self._fields = arrays.fields(space)
        self._objects = RootObjects()  # of lists, which there are none of
        self._driver = self._made()
        self._walk = Walk(space, LoopContributions(), Load(ranks.options.load, self._communicator.rank))
        self._left_at: int | None = None  # the position of the iteration in which this rank has left

    def items(self) -> Iterator[Any]:
        """The items of this rank's iterations; results are gathered when it ends."""
        driver, walk = self._driver, self._walk
        self._scatter()
        walk.join(driver)
        if not driver.work:
            driver.synchronize()  # more ranks than iterations: work may still come
        try:
            while driver.work:
                yield from walk.iterations(each=False)
                self._synchronize()
        except GeneratorExit:
            self._left_at = walk.failed()
            walk.end_stretch()
            driver.failed(0)
            self._synchronize()
            self._end()
            raise
        self._end()
        if self._space.error is not None:
            raise self._space.error

    def _synchronize(self) -> None:
        self._walk.end_stretch()
        self._driver.synchronize()
        self._walk.emulate_load()

    def _check(self, arrays: _Arrays) -> None:
        """Raise ValueError on all ranks where the arguments of one do not fit, or differ between ranks."""
        strategy, space = self._request.strategy, self._space
        problem = arrays.problem(space)
        if strategy is not None and strategy not in (AUTO, *names()):
            problem = f"strategy: found {strategy!r}{nearest(strategy, (AUTO, *names()))}"
        weights, ranks = self._request.weights, self._communicator.ranks
        if weights and (len(weights) != ranks or min(weights) < 0 or not sum(weights)):
            problem = f"weights: expected a number of at least 0 for each of {ranks} ranks, one above 0"
        shapes = [] if problem else [(each.shape, each.dtype.str) for each in arrays.all]
        modes = [_is_in(each, arrays.rows) for each in arrays.all] + [len(arrays.results)]
        signature = (len(space), space.index, shapes, modes, self._request)
        reports = self._communicator.comm.allgather((problem, signature))
        for rank, (found, other) in enumerate(reports):
            if found:
                raise ValueError(f"rank {rank}: {found}")
            if other != reports[0][1]:
                raise ValueError(f"rank {rank}: expected the arguments and lengths of rank 0, found others")

    def _made(self) -> AgentDriver:
        """The driver of this rank's agent, after rank 0 has dealt."""
        options, networks, rank = self._ranks.options, self._ranks.networks, self._communicator.rank
        strategy = self._request.strategy or options.strategy or AUTO
        if strategy == AUTO:
            preload()
        weights = self._request.weights or options.weights or ()
        without_rows = not any(field.moves for field in self._fields)
        self._communicator.restart_counter()
        dealt = self._dealt(strategy, weights, without_rows) if rank == 0 else ""
        dealt = self._communicator.comm.bcast(dealt, root=0)
        if isinstance(dealt, str):
            raise ValueError(dealt)
        groups = options.group.formed(self._ranks.hosts, weights, None)
        within, network = networks.of_groups(groups, self._ranks.hosts), networks.whole
        parameters = Parameters(
            adapts=options.adapt, whole_history=options.whole_history, byte_s=1 / network.bandwidth
        )
        start = initial_state(
            dealt,
            parameters,
            network.all_to_all.seconds(self._communicator.ranks) or parameters.exchange_s,
            sum(field.iteration_bytes() for field in self._fields),
            network,
            groups,
            within,
            LoopStatistics(),
            without_rows=without_rows,
        )
        setup = AgentSetup(strategy, start, groups, options.group.rules, network, within)
        agent, chooser = setup.agent(rank, clock())
        serial = next(self._ranks.serials)
        return AgentDriver(self._communicator, serial, agent, self._fields, self._objects, chooser)

    def _dealt(self, strategy: str, weights: Sequence[float], without_rows: bool) -> InitialPartition | str:
        """The first shares; the reason if the cost cannot be used."""
        n, ranks = len(self._space), self._communicator.ranks
        work = None
        if (cost := self._cost) is not None:
            from dlbrt.partition.costs import evaluate_cost

            spec = CostSpec(each=lambda items: [cost(item) for item in items])
            try:
                work = evaluate_cost(spec, n, self._space.index, lambda: self._space.items(range(n))[0])
            except CostError as error:
                return str(error)
        deal = first_shares(Units(0, n), ranks, Distribution.BLOCK, stated=lambda: work, weights=weights).deal
        pool = pooled(strategy)
        return deal if pool is None else pool.first_deal(deal, LoopStatistics(), without_rows=without_rows)

    def _scatter(self) -> None:
        """Each rank gets the rows of the iterations that it begins with."""
        mover, rank = self._mover(), self._communicator.rank
        if rank == 0:
            for other in range(1, self._communicator.ranks):
                mover.send(self._driver.held(other), other, Field.scattered)
            self._driver.scatter(mover)
        else:
            mover.receive(self._driver.held(rank), 0, Field.scattered)
            mover.complete()

    def _end(self) -> None:
        """Gather the results, or raise what another rank's end means."""
        done = self._driver.figures.done
        if self._left_at is not None:
            done = done.union(Spans.of(range(self._left_at, self._left_at + 1)))
        reports = self._communicator.comm.allgather((self._left_at, done))
        self._communicator.close()  # the counter of self-scheduling
        left = [(rank, at) for rank, (at, _) in enumerate(reports) if at is not None]
        if left and not self._request.breaks:
            if self._left_at is None:
                rank, at = left[0]
                item = self._space.item(at)
                raise LeftEarlyError(f"rank {rank} has left the loop in the iteration of {item!r:.60}")
            return
        parts = [part for _, part in reports]
        if not left and (error := coverage_error(len(self._space), parts)):
            raise RuntimeError(f"{error}; please report this")
        self._gather(parts)

    def _gather(self, parts: Sequence[Spans]) -> None:
        mover, rank = self._mover(), self._communicator.rank
        if rank:
            mover.send(parts[rank], 0, Field.stored)
        else:
            for other in range(1, self._communicator.ranks):
                mover.receive(parts[other], other, Field.stored)
        mover.complete()
        if self._request.everywhere:
            for field in self._fields:
                stored: Any = ()
                for part in parts:
                    stored = union(stored, field.stored(part))
                if stored:
                    mover.broadcast(field, stored, 0)
            mover.complete()

    def _mover(self) -> Mover:
        return Mover(self._communicator, self._fields, self._objects)


def _all_items(iterable: Iterable[T]) -> Iterable[T]:
    """The items of an iterable, which may be a space (`dlbrt.enumerate`), on this rank alone."""
    return iterable.items(range(len(iterable)))[0] if isinstance(iterable, Space) else iterable


def _index(space: Space) -> IndexMap:
    """Which row belongs to a position."""
    return space.index or IndexMap(0, 1)


def _is_in(array: Array, arrays: Iterable[Array]) -> bool:
    return any(array is each for each in arrays)


def _described(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"{type(value).__name__} of shape {value.shape} and type {value.dtype}"
    return type(value).__name__
