"""One rank's part in runs of a compiled loop that are repeated: the same iterations on the same rows.

Most loops of a routine go through the same few runs again and again. What such a run is made of (who computes
which iterations, which rows travel before) is worked out and sent once, as a `RepeatPlan`; a run of it then
takes one small message to each rank and one back. The idea is that of the inspector/executor method
(Saltz et al., PARTI/CHAOS), where a schedule of communication is computed once and reused.
`dlbrt.mpi.routines.repeated_runs` decides at rank 0 when a run is a repetition.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI

from dlbrt.data.memory import Array
from dlbrt.mpi.communicator import DATA, REPEATED, Communicator
from dlbrt.mpi.regions import MemoryRegion
from dlbrt.mpi.routines.loop_residents import (
    ArrayTransfer,
    Eviction,
    PendingTransfers,
    is_broadcast,
    regions_in_place,
    row_field,
)
from dlbrt.mpi.team import clock
from dlbrt.native.arguments import NotCompiled
from dlbrt.native.chunk_spec import ChunkSpec
from dlbrt.native.chunks import CompiledChunks
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class RepeatPlan:
    """What all ranks do in a run of the loop ``key`` that is repeated.

    ``tokens`` are those of the chunk function's arguments that stay on the ranks, None for the others, whose
    values come with each run; of those, ``fresh`` has type and shape of the arrays. Each rank computes its
    ``parts``, values of the index; it begins with the first ``ahead`` of them before the rows of
    ``array_transfers`` have arrived. After the first run ranks give up the rows of ``evictions``.
    """

    number: int
    key: str
    tokens: tuple[int | None, ...]
    fresh: Mapping[int, tuple[np.dtype[Any], tuple[int, ...]]]
    parts: tuple[tuple[range, ...], ...]
    ahead: tuple[int, ...]
    array_transfers: tuple[ArrayTransfer, ...]
    evictions: tuple[Eviction, ...]


#: What a rank did: of each part how many iterations, and the seconds that they took.
Done = tuple[tuple[int, ...], float]

#: The message for a run: the number of the plan, and the values of the arguments that are not on the ranks.
RepeatCommand = tuple[int, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class RowStep:
    """The copy ``number`` of a row that all ranks take; the ranks ``targets`` get it from ``source``."""

    number: int
    token: int
    row: int
    source: int
    targets: tuple[int, ...]


#: A run among others that all ranks go through: as `RepeatCommand`, with a `RowStep` where the copy is taken.
RunStep = tuple[int, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class PassesCommand:
    """The message for passes that ranks go through by themselves (`dlbrt.mpi.routines.passes_ahead`)."""

    steps: tuple[RowStep | RunStep, ...]


class RunRepeater:
    """One rank's part in the runs of a plan; ``array`` has the arrays on the ranks by their tokens.

    It keeps no reference to an array from one run to the next.
    """

    def __init__(
        self,
        communicator: Communicator,
        plan: RepeatPlan,
        spec: ChunkSpec,
        threads: int,
        array: Callable[[int], Array],
    ) -> None:
        self._communicator = communicator
        self._spec, self._threads = spec, threads
        self._chunks: CompiledChunks | None = None
        self._ahead = plan.parts[communicator.rank][: plan.ahead[communicator.rank]]
        self._rest = plan.parts[communicator.rank][plan.ahead[communicator.rank] :]
        self._regions: list[MemoryRegion] = []
        self._sends: list[tuple[Any, int]] = []
        self._receives: list[tuple[Any, int]] = []
        self._broadcasts: list[tuple[Any, int]] = []
        self._packed: list[ArrayTransfer] = []  # of rows in small blocks
        self._places = {token: place for place, token in enumerate(plan.tokens)}
        for each in plan.array_transfers:
            self._plan_transfer(each, array(each.number))

    def _plan_transfer(self, each: ArrayTransfer, array: Array) -> None:
        rank, ranks = self._communicator.rank, self._communicator.ranks
        source, targets = each.row_transfer.source, each.row_transfer.targets
        to_all = is_broadcast(each, ranks)
        if not (to_all or rank == source or rank in targets):
            return
        regions = regions_in_place(array, each.axis, each.row_transfer.rows)
        if not regions:
            self._packed.append(each)
            return
        for region in regions:
            self._regions.append(region)
            if to_all:
                self._broadcasts.append((region.message, source))
            elif rank == source:
                self._sends += [(region.message, target) for target in targets]
            else:
                self._receives.append((region.message, source))

    def prepare(self, arguments: tuple[Any, ...]) -> None:
        """Compile for these arguments, or others of the same types; raises NotCompiled."""
        if self._chunks is None:
            self._chunks = CompiledChunks(self._spec, arguments, self._threads)
            if not self._chunks.leaves_nothing:
                raise NotCompiled("not all of its arguments are taken as they are")

    def run(self, arguments: tuple[Any, ...]) -> Done:
        """Exchange rows and run this rank's iterations, but for those that compiled code leaves to Python."""
        requests, packed = self._exchange(), self._exchange_packed(arguments)
        try:
            self.prepare(arguments)
        except NotCompiled:
            self._complete(requests, packed)
            return (0,) * (len(self._ahead) + len(self._rest)), 0.0
        assert self._chunks is not None
        self._chunks.bind(arguments)
        started = clock()
        done = [self._chunks.run_fitting(part) for part in self._ahead]
        arriving = clock()
        self._complete(requests, packed)
        arrived = clock()
        done += [self._chunks.run_fitting(part) for part in self._rest]
        self._chunks.bind(())
        return tuple(done), clock() - arrived + arriving - started

    def _exchange(self) -> list[MPI.Request]:
        comm = self._communicator.comm
        requests = [comm.Irecv(message, source, DATA) for message, source in self._receives]
        requests += [comm.Ibcast(message, source) for message, source in self._broadcasts]
        requests += [comm.Isend(message, target, DATA) for message, target in self._sends]
        return requests

    def _exchange_packed(self, arguments: Sequence[Any]) -> PendingTransfers | None:
        if not self._packed:
            return None
        arrays = {each.number: (arguments[self._places[each.number]], each.axis) for each in self._packed}
        fields = {number: row_field(*each) for number, each in arrays.items()}
        return PendingTransfers(self._communicator, self._packed, fields).receive()

    def _complete(self, requests: Sequence[MPI.Request], packed: PendingTransfers | None) -> None:
        self._communicator.complete(requests)
        if packed is not None:
            packed.complete()

    def free(self) -> None:
        """Free the layouts of rows; no run may follow."""
        for region in self._regions:
            region.free()
        self._regions = []


class WorkerRepeats:
    """The plans that a worker has, with the arrays that their runs use.

    ``kept`` has the arrays on this rank by token, ``specs`` what kernels say of their chunk functions by the
    loop's key. ``evict`` gives up rows.
    """

    def __init__(
        self,
        communicator: Communicator,
        threads: int,
        kept: Callable[[int], Array],
        evict: Callable[[Sequence[Eviction]], None],
    ) -> None:
        self._communicator = communicator
        self._threads = threads
        self._kept = kept
        self._evict = evict
        self._evictions: dict[int, Sequence[Eviction]] = {}  # of plans that have not run
        self._plans: dict[int, tuple[RepeatPlan, RunRepeater, list[Any]]] = {}
        self._copies: dict[int, Array] = {}
        self._uses: Counter[int] = Counter()
        self.specs: dict[str, ChunkSpec] = {}

    def add(self, plan: RepeatPlan) -> None:
        """Take over a plan: the loop has run here before."""
        spec = self.specs[plan.key]
        repeater = RunRepeater(self._communicator, plan, spec, self._threads, self._kept)
        arguments = [None if token is None else self._kept(token) for token in plan.tokens]
        for place, (dtype, shape) in plan.fresh.items():
            arguments[place] = np.empty(shape, dtype)
        self._plans[plan.number] = plan, repeater, arguments
        self._evictions[plan.number] = plan.evictions

    def run(self, command: RepeatCommand) -> None:
        """Run what a command asks for, and report to rank 0."""
        self._report(self._run(command))
        self._evict(self._evictions.pop(command[0], ()))

    def run_passes(self, command: PassesCommand) -> None:
        """Go through passes, and report to rank 0."""
        done: list[Done] = []
        runs = (values for _, values in (step for step in command.steps if isinstance(step, tuple)))
        self._uses = Counter(v.number for values in runs for v in values if isinstance(v, RowStep))
        for step in command.steps:
            if isinstance(step, tuple):
                done.append(self._run(step))
            else:
                self._copies[step.number] = self._copy(step)
        self._copies = {}
        self._report(done)

    def _copied(self, number: int) -> Array:
        """A copy of a row, which is given up with its last use in these passes."""
        self._uses[number] -= 1
        return self._copies[number] if self._uses[number] else self._copies.pop(number)

    def _copy(self, step: RowStep) -> Array:
        """A copy of a row, which this rank need not have: no memory of the array is touched for it."""
        array = self._kept(step.token)
        away = self._communicator.rank in step.targets
        row = np.empty(array.shape[1:], array.dtype) if away else array[step.row].copy()
        exchange_row(self._communicator, row, step)
        return row

    def _report(self, done: Done | Sequence[Done]) -> None:
        report = pickle.dumps(done, pickle.HIGHEST_PROTOCOL)
        self._communicator.complete([self._communicator.send_bytes(report, 0, REPEATED)])

    def _run(self, command: RepeatCommand) -> Done:
        plan, repeater, arguments = self._plans[command[0]]
        values = iter(command[1])
        for place, token in enumerate(plan.tokens):
            if place in plan.fresh:
                value = next(values)
                if isinstance(value, RowStep):
                    arguments[place] = self._copied(value.number)
                else:
                    arguments[place].reshape(-1).view(np.uint8)[:] = np.frombuffer(value, np.uint8)
            elif token is None:
                arguments[place] = next(values)
        return repeater.run(tuple(arguments))

    def forget(self, tokens: Sequence[int]) -> None:
        """Forget the plans that use one of these arrays, which this rank gives up."""
        for number, (plan, repeater, _) in list(self._plans.items()):
            if not set(plan.tokens).isdisjoint(tokens):
                repeater.free()
                del self._plans[number]


def exchange_row(communicator: Communicator, row: Array, step: RowStep) -> None:
    """This rank's part in bringing a contiguous row to where it is not: ``row`` has it, or gets it."""
    rank, ranks = communicator.rank, communicator.ranks
    if len(step.targets) == ranks - 1 and ranks > 2:
        communicator.complete([communicator.broadcast_memory(row, step.source)])
    elif rank == step.source:
        communicator.complete([communicator.send_memory(row, target, DATA) for target in step.targets])
    elif rank in step.targets:
        communicator.complete([communicator.receive_memory(row, step.source, DATA)])


def reports(communicator: Communicator) -> list[Any]:
    """At rank 0: what the other ranks have done, in order of rank, once all have reported."""
    return [pickle.loads(communicator.wait_bytes(rank, REPEATED)[1]) for rank in range(1, communicator.ranks)]
