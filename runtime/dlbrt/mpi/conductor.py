"""Rank 0: decides how a loop runs, calls the other ranks to it, and puts the results together."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import cloudpickle

from dlbrt.contract import LOCAL, Distribution
from dlbrt.core.load import Load
from dlbrt.core.parameters import Parameters
from dlbrt.core.registry import AUTO
from dlbrt.dist.field import Field
from dlbrt.dist.hazard import hazard
from dlbrt.dist.space import Space, space_of
from dlbrt.dist.spans import Spans, coverage_error
from dlbrt.mpi import modules, packing, state
from dlbrt.mpi.call import Call, SlotHeader
from dlbrt.mpi.contents import Publisher, shared_fields
from dlbrt.mpi.ending import After
from dlbrt.mpi.kernels import Signature, signature
from dlbrt.mpi.ledger import Ledger, Notes
from dlbrt.mpi.loop import Loop
from dlbrt.mpi.mover import Mover
from dlbrt.mpi.packing import Packed
from dlbrt.mpi.perform import Result, form_crew, own_result, perform, stored_by
from dlbrt.mpi.team import Crew, Solo, Team, clock
from dlbrt.mpi.wire import ANY, COMMAND, RESULT, Wire
from dlbrt.options import Options

__all__ = ["Conductor", "LostIterationError"]

Kernel = Callable[..., None]


class LostIterationError(RuntimeError):
    """An iteration was executed twice or not at all: a defect of the runtime, never of the program."""


class Conductor:
    """Runs loops for the session of this process; on ranks above 0, alone, since one is running there."""

    def __init__(self, wire: Wire, options: Options, host_names: Sequence[str]) -> None:
        self.wire = wire
        self.options = options
        self.publisher = Publisher(wire)
        self.ledger = Ledger(wire.ranks, host_names)
        self.parameters = Parameters()
        self.exchange_s = self.parameters.exchange_s
        # The program may change the directory before it ends.
        self._stats = os.path.abspath(options.stats) if options.stats else None
        self._serial = 0
        self._busy = False
        self._bodies: dict[str, bytes] = {}
        self._signatures: dict[str, Signature] = {}
        self._state: state.State | None = None

    def run(self, kernel: Kernel, iterable: Any, arguments: Sequence[Any]) -> After:
        """Run a loop to its end; the exception of its body, if any, is in what is returned."""
        space = space_of(iterable)
        if self._busy or self.wire.rank:
            return _alone(kernel, space, arguments)
        self._busy = True
        try:
            return _Run(self, kernel, space, arguments).run()
        except BaseException as error:
            # Not the body's: those are caught below. The other ranks cannot go on without this one.
            if self.wire.ranks > 1:
                self.wire.fail(error)
            raise
        finally:
            self._busy = False

    def command(self, call: Call, found: Signature | None) -> None:
        """Send a call to all other ranks, leaving out a body that they have from its last call.

        ``found`` is the signature of the kernel that they have from then on.
        """
        if found is not None:
            self._signatures[call.key] = found
        if self._bodies.get(call.key) == call.body:
            call = call.without_body()
        elif call.body is not None:
            self._bodies[call.key] = call.body
        self._tell(pickle.dumps(call, pickle.HIGHEST_PROTOCOL))

    def has_kernel(self, key: str, found: Signature) -> bool:
        """Whether the other ranks have the kernel of that signature."""
        return self._signatures.get(key) == found

    def next_serial(self) -> int:
        """A number for the next call."""
        self._serial += 1
        return self._serial

    def changed_state(self) -> state.State | None:
        """The interpreter's state if it changed since the last call."""
        now = state.capture()
        if now == self._state:
            return None
        self._state = now
        return now

    def stop(self) -> None:
        """Let the other ranks end, and write the statistics."""
        if self.wire.rank == 0 and not self._busy:
            self._tell(b"")
            if self._stats:
                self.ledger.write(self._stats)

    def _tell(self, message: bytes) -> None:
        others = range(1, self.wire.ranks)
        self.wire.complete([self.wire.send_bytes(message, rank, COMMAND) for rank in others])


def _alone(kernel: Kernel, space: Space, arguments: Sequence[Any]) -> After:
    """A loop met while another one runs: sequential, on the rank that meets it."""
    loop = Loop(space, lambda _: Solo(_all(space)), lambda _: None, Load.none())
    perform(loop, kernel, arguments)
    return After(space, [own_result(loop, 0)])


def _all(space: Space) -> Spans:
    return Spans.of(range(len(space)))


class _Run:
    """One run of one loop, led by rank 0."""

    def __init__(self, conductor: Conductor, kernel: Kernel, space: Space, arguments: Sequence[Any]) -> None:
        self._conductor = conductor
        self._wire = conductor.wire
        self._kernel = kernel
        self._space = space
        self._arguments = arguments
        self._notes: Notes = conductor.ledger.notes(kernel)
        self._fields: list[Field] = []
        self._packed = Packed()
        self._headers: tuple[SlotHeader, ...] = ()
        self._signature: Signature | None = None
        self._kernel_bytes: bytes | None = None
        self._results: list[Result] = []
        self._strategy = ""
        self._reason = ""
        self._started = clock()

    def run(self) -> After:
        """Run the loop and note its figures."""
        options = self._conductor.options
        loop = Loop(self._space, self._launch, self._finish, Load(options.load, self._wire.rank))
        loop.pacer.size = self._notes.chunk
        perform(loop, self._kernel, self._arguments)
        self._notes.learn(
            [result.figures for result in self._results],
            clock() - self._started,
            len(self._space),
            self._strategy,
            self._reason,
        )
        self._notes.chunk = max(1, loop.pacer.size // 2)
        return After(self._space, self._results)

    def _launch(self, loop: Loop) -> Team:
        """The team for this loop; the second call is for the rest of a loop begun alone."""
        options, n = self._conductor.options, len(self._space)
        begun = loop.team if isinstance(loop.team, Solo) and loop.team.figures.done else None
        forced = loop.strategy or options.strategy
        self._strategy = forced or AUTO
        if self._wire.ranks == 1 or n == 0:
            self._strategy = forced or LOCAL
            return Solo(_all(self._space))
        if begun is None and forced in (None, "auto") and (trial_s := self._notes.trial_s(n)):
            loop.trial_until = clock() + trial_s
            self._strategy = LOCAL
            return Solo(_all(self._space))
        if reason := self._obstacle(loop):
            self._strategy, self._reason = LOCAL, reason
            self._notes.remark(reason)
            return begun or Solo(_all(self._space))
        return self._form(loop, begun)

    def _obstacle(self, loop: Loop) -> str | None:
        """Why this loop cannot be shared, in words; prepares its data if it can."""
        names = self._kernel.__code__.co_varnames[1 : self._kernel.__code__.co_argcount]
        arguments = dict(zip(names, self._arguments, strict=True))
        try:
            self._fields = loop.table.fields(arguments, self._space)
            self._pack(arguments)
            hidden = self._packed.inside - {id(f.data) for f in self._fields if "." in f.name}
            arrays = [value for value in self._packed.slots if not isinstance(value, list)]
            return hazard(self._fields, arrays, hidden, len(self._space))
        except Exception as error:  # objects' own pickling hooks and attributes may raise anything
            return f"what it uses cannot be sent to other ranks ({type(error).__name__}: {error})"

    def _pack(self, arguments: dict[str, Any]) -> None:
        distributed = {id(field.data): field for field in self._fields if _has_rows(field)}
        lists = {key: field.data for key, field in distributed.items() if isinstance(field.data, list)}
        packed = self._packed = Packed()

        def carried(value: Any) -> Any:
            return packed.slot(value) if id(value) in distributed else value

        values = [carried(value) for value in arguments.values()]
        space = self._space.with_values(carried(part.values) for part in self._space.parts)
        found = self._signature = signature(self._kernel)
        if found is not None and not self._conductor.has_kernel(self._notes.key, found):
            self._kernel_bytes = cloudpickle.dumps(self._kernel)
        kernel = self._kernel if found is None else None
        packing.pack((kernel, values, space, modules.collect()), packed, lists)

    def _form(self, loop: Loop, begun: Solo | None) -> Team:
        call = self._call(first=len(self._space) - len(begun.work) if begun else 0)
        self._fields = shared_fields(self._fields, self._packed.slots, self._headers)
        self._conductor.command(call, self._signature)
        self._conductor.publisher.broadcast(self._packed.slots, self._headers)
        crew = form_crew(self._wire, call, self._fields, loop.table.iterations)
        self._scatter(crew)
        if begun:
            crew.figures.done, crew.figures.compute_s = begun.figures.done, begun.figures.compute_s
        return crew

    def _call(self, first: int) -> Call:
        conductor = self._conductor
        inside = self._packed.inside
        by_rows = {
            id(f.data) for f in self._fields if _has_rows(f) and ("." in f.name or id(f.data) not in inside)
        }
        stored = {id(field.data) for field in self._fields if field.spec.stores}
        self._headers = conductor.publisher.describe(self._packed.slots, by_rows, stored)
        return Call(
            serial=conductor.next_serial(),
            key=self._notes.key,
            kernel=self._kernel_bytes,
            body=self._packed.body,
            headers=self._headers,
            positions=len(self._space),
            first=first,
            strategy=self._strategy,
            weights=conductor.options.weights or (),
            parameters=conductor.parameters,
            exchange_s=conductor.exchange_s,
            state=conductor.changed_state(),
            dropped=conductor.publisher.dropped(),
        )

    def _scatter(self, crew: Crew) -> None:
        mover = Mover(self._wire, self._fields)
        for rank in range(1, self._wire.ranks):
            mover.send(crew.shares[rank], rank, Field.needed)
        mover.complete()

    def _finish(self, loop: Loop) -> None:
        self._results = [own_result(loop, 0)]
        if isinstance(loop.team, Crew):
            self._gather(loop.team)
            self._conductor.exchange_s = loop.team.figures.exchange_s
        for bar in self._space.bars:
            bar.update(len(self._space) - len(loop.team.figures.done))
            bar.close()

    def _gather(self, crew: Crew) -> None:
        mover = Mover(self._wire, self._fields)
        results: dict[int, Result] = {0: self._results[0]}
        while len(results) < self._wire.ranks:
            rank, message = self._wire.wait_bytes(ANY, RESULT)
            results[rank] = pickle.loads(message)
            mover.receive(results[rank].figures.done, rank, stored_by(results[rank]))
        mover.complete()
        self._results = [results[rank] for rank in range(self._wire.ranks)]
        self._check(crew)

    def _check(self, crew: Crew) -> None:
        end = min(crew.failed_at, len(self._space))
        error = coverage_error(end, [result.figures.done.below(end) for result in self._results])
        if error is not None:
            raise LostIterationError(f"{self._notes.source}: {error}; please report this")


def _has_rows(field: Field) -> bool:
    return field.spec.distribution is not Distribution.WHOLE
