"""One run of one loop, led by rank 0: it decides how, calls the other ranks, puts the results together."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from numbers import Number
from typing import Any

from dlbrt.contract import LOCAL, Distribution
from dlbrt.core.agent import PeerStrategy
from dlbrt.core.chunks.loop import Known
from dlbrt.core.load import Load
from dlbrt.core.model.groups import Groups
from dlbrt.core.partition.costs import CostSpec
from dlbrt.core.partition.profiling import GroupTimes
from dlbrt.core.profile import NO_FAILURE
from dlbrt.core.registry import AUTO, STATIC, pooled
from dlbrt.dist.deal import Deal
from dlbrt.dist.evaluate import FootprintError
from dlbrt.dist.field import Field, reached_whole
from dlbrt.dist.footprint import IndexMap
from dlbrt.dist.hazard import hazard, reached_otherwise
from dlbrt.dist.space import Space, space_of
from dlbrt.dist.spans import Spans, coverage_error
from dlbrt.effects.contributions import Contributions, Description, describe, selectable
from dlbrt.effects.output import shown
from dlbrt.effects.replay import Fault
from dlbrt.mpi import modules, packing
from dlbrt.mpi.call import Call, SlotHeader, TableSlots
from dlbrt.mpi.conductor import Conductor
from dlbrt.mpi.contents import shared_fields
from dlbrt.mpi.crew import Crew
from dlbrt.mpi.dealing import Dealer
from dlbrt.mpi.elements import Elements
from dlbrt.mpi.ending import After
from dlbrt.mpi.footprints import look, pack_tables
from dlbrt.mpi.kernels import signature
from dlbrt.mpi.ledger import Notes
from dlbrt.mpi.logbook import Logbook
from dlbrt.mpi.loop import Loop
from dlbrt.mpi.mover import Mover
from dlbrt.mpi.note import note
from dlbrt.mpi.objects import Objects, met_by_pickler
from dlbrt.mpi.packing import Packed, SentKernel
from dlbrt.mpi.parcels import Delivery, Parcel, Spare
from dlbrt.mpi.perform import Result, form_crew, own_result, perform, stored_by
from dlbrt.mpi.residence import Staying
from dlbrt.mpi.state import State
from dlbrt.mpi.stay import Stay
from dlbrt.mpi.team import Solo, Team, clock
from dlbrt.mpi.unbound import check_bound
from dlbrt.mpi.walk import Walk
from dlbrt.mpi.wire import ANY, RESULT
from dlbrt.observe.recorder import Recorder
from dlbrt.observe.trace import RunTrace

__all__ = ["LostIterationError", "run_loop"]

Kernel = Callable[..., None]

#: Values that no operation changes: whoever else has them goes on having them.
_UNCHANGING = (Number, str, bytes, tuple, frozenset, type(None))


class LostIterationError(RuntimeError):
    """An iteration was lost or executed twice, or two stored to one element: a defect of the runtime."""


def run_loop(
    conductor: Conductor,
    kernel: Kernel,
    iterable: Any,
    arguments: Sequence[Any],
    costs: CostSpec,
    stay: Stay | None = None,
) -> After:
    """Run a loop to its end; the exception of its body, if any, is in what is returned.

    ``costs`` is what the user says of its work; the kernel itself may say more. ``stay`` is the routine's
    that the loop is part of: its arrays stay on the ranks.
    """
    space = space_of(iterable)
    if len(space):
        check_bound(arguments)
    if not conductor.claim(wait=stay is not None):
        return _alone(kernel, space, arguments)
    try:
        return _Run(conductor, kernel, space, arguments, costs, stay).run()
    except BaseException as error:  # not the body's: those are in what is returned
        conductor.give_up(error)
        raise
    finally:
        conductor.release()


def _alone(kernel: Kernel, space: Space, arguments: Sequence[Any]) -> After:
    """A loop met while another one runs: sequential, on the rank that meets it."""

    def launch(loop: Loop) -> Team:
        loop.contributions.begin(_named(kernel, arguments))
        return Solo(_all(space))

    loop = Loop(space, launch, lambda _: None, Load.none())
    perform(loop, kernel, arguments)
    return After(space, [own_result(loop, 0)], loop.contributions.results())


def _named(kernel: Kernel, arguments: Sequence[Any]) -> dict[str, Any]:
    names = kernel.__code__.co_varnames[1 : kernel.__code__.co_argcount]
    return dict(zip(names, arguments, strict=True))


def _all(space: Space) -> Spans:
    return Spans.of(range(len(space)))


class _Run:
    """One run of one loop, led by rank 0."""

    def __init__(
        self,
        conductor: Conductor,
        kernel: Kernel,
        space: Space,
        arguments: Sequence[Any],
        costs: CostSpec,
        stay: Stay | None,
    ) -> None:
        self._conductor = conductor
        self._stay = stay
        self._staying = Staying()
        self._parcels: tuple[Parcel, ...] = ()
        self._spared: tuple[Spare, ...] = ()
        self._ahead: tuple[range, ...] = ()
        self._wire = conductor.wire
        self._kernel = kernel
        self._space = space
        self._arguments = arguments
        self._costs = costs
        self._notes: Notes = conductor.ledger.notes(kernel)
        self._fields: list[Field] = []
        self._packed = Packed()
        self._tables: tuple[TableSlots, ...] = ()
        self._elements: Elements | None = None
        self._headers: tuple[SlotHeader, ...] = ()
        self._kernel_sent: SentKernel | None = None
        self._objects = Objects()
        self._state: State | None = None
        self._settings: bytes | None = None
        self._kernel_bytes: bytes | None = None
        self._results: list[Result] = []
        self._descriptions: dict[str, Description] = {}
        self._logbook: Logbook | None = None
        self._fault: Fault | None = None
        options = conductor.options
        last, model = options.weights_last, options.model
        weights = options.weights or self._notes.known_speeds(last or model, expected=last)
        self._weights = weights
        self._dealer = Dealer(self._notes, self._wire.ranks, weights, options.trial)
        self._strategy = self._asked = self._shared_by = ""
        self._pool: PeerStrategy | None = None
        self._bare = False
        self._crew: Crew | None = None
        self._groups: Groups = ()
        self._reason = ""
        self._started = clock()
        self._recorder = Recorder(self._started) if conductor.tracing is not None else None

    def run(self) -> After:
        """Run the loop and note its figures."""
        options = self._conductor.options
        loop = Loop(self._space, self._launch, self._finish, Load(options.load, self._wire.rank))
        if self._stay is not None:
            loop.look = self._stay.see
            self._stay.see(self._costs)
        loop.costs = self._costs
        loop.walk.pacer.size = self._notes.chunk
        try:
            perform(loop, self._kernel, self._arguments)
        finally:
            if self._logbook is not None:
                self._logbook.close()
        self._notes.learn(
            [result.figures for result in self._results],
            clock() - self._started,
            len(self._space),
            self._crew.strategy if self._crew is not None else self._strategy,
            self._reason,
            self._dealer.planned,
            self._crew.choice if self._crew is not None else None,
            sum(parcel.shipment.carried for parcel in self._parcels),
            self._staying.bytes_of(self._parcels),
        )
        self._record()
        self._dealer.learn(self._results)
        if self._pool is not None and len(self._results) > 1:
            self._notes.learn_of_chunks([r.figures for r in self._results], self._conductor.network.latency_s)
        self._notes.chunk = max(1, loop.walk.pacer.size // 2)
        values = loop.contributions.results()
        after = After(self._space, self._results, values, self._fault, self._objects)
        if after.failure is not None and len(self._results) > 1:
            place, ranks = self._notes.source, self._wire.ranks
            after.note = note(self._kernel, self._space, after.failure, place, ranks)
            if self._fault is None and self._logbook is not None:
                doubt = self._logbook.doubt(after.failure.position)
                after.note = "\n".join(filter(None, (after.note, doubt)))
        return after

    def _record(self) -> None:
        """Add the run to the trace, if there is to be one."""
        if self._recorder is not None and self._conductor.tracing is not None:
            strategy = self._crew.strategy if self._crew is not None else self._strategy
            traces = tuple(result.trace for result in self._results if result.trace is not None)
            run = RunTrace(strategy, len(self._space), traces, self._recorder.setup)
            self._conductor.tracing.add(self._notes.key, self._notes.source, run)

    def _launch(self, loop: Loop) -> Team:
        """The team for this loop; the second call is for the rest of a loop begun alone."""
        options, n = self._conductor.options, len(self._space)
        if self._stay is not None:
            self._stay.prepare(loop, _named(self._kernel, self._arguments))
        loop.contributions.begin(_named(self._kernel, self._arguments))
        begun = loop.team if isinstance(loop.team, Solo) and loop.team.figures.parts else None
        forced = loop.strategy or options.strategy
        known = self._stay.strategy(self._notes.key) if self._stay is not None else None
        self._asked = forced or AUTO
        self._shared_by = forced or known or AUTO
        self._pool = pooled(self._shared_by)
        self._strategy = self._asked
        if self._wire.ranks == 1 or n == 0:
            self._strategy = LOCAL if self._asked == AUTO else self._asked
            return self._solo(loop)
        if begun is None and self._asked == AUTO and (trial_s := self._notes.trial_s(n)):
            loop.walk.trial_until = clock() + trial_s
            self._strategy = LOCAL
            return self._solo(loop)
        if reason := self._obstacle(loop):
            self._strategy, self._reason = LOCAL, reason
            self._notes.remark(reason)
            return begun or self._solo(loop)
        return self._form(loop, begun)

    def _solo(self, loop: Loop) -> Team:
        """Rank 0 alone, with all that the loop touches at home."""
        if self._stay is not None and len(self._space):
            self._stay.bring(loop, self._kernel, _named(self._kernel, self._arguments), self._space)
        return Solo(_all(self._space), self._recorder)

    def _obstacle(self, loop: Loop) -> str | None:
        """Why this loop cannot be shared, in words; prepares its data if it can."""
        if loop.unmet is not None:
            return f"{loop.unmet} does not hold"
        arguments = _named(self._kernel, self._arguments)
        try:
            fields = loop.table.fields(arguments, self._space)
            if self._stay is not None and self._pool is not None:
                self._stay.bring(loop, self._kernel, arguments, self._space)  # the pool is at rank 0
            elif self._stay is not None:
                self._stay.look(fields)
            self._fields = look(fields, len(self._space), self._notes.tables)
            if self._stay is not None and self._pool is None:
                self._staying = self._stay.take(self._fields)
            known = loop.contributions
            self._descriptions = {name: describe(k, known.values[name]) for name, k in known.kinds.items()}
            self._pack(arguments | self._descriptions)
            if self._stay is not None and not self._stay.complete(self._packed, self._staying):
                self._pack(arguments | self._descriptions)
            self._tables = pack_tables(self._fields, self._packed)
            self._state = self._conductor.changed_state()
            self._settings = self._objects.dumps(self._state.settings) if self._state else None
            hidden = self._packed.inside - {id(f.data) for f in self._fields if "." in f.name}
            hidden |= reached_whole(self._fields, arguments)
            arrays = [value for value in self._packed.slots if not isinstance(value, list)]
            arrays += self._packed.arrays
            met = self._objects.known if any(field.spec.in_place for field in self._fields) else ()
            reason = hazard(self._fields, arrays, hidden, len(self._space), met)
            return reason or self._contribution_obstacle(known, arrays)
        except FootprintError as error:
            return str(error)
        except Exception as error:  # objects' own pickling hooks and attributes may raise anything
            return f"what it uses cannot be sent to other ranks ({type(error).__name__}: {error})"

    def _contribution_obstacle(self, known: Contributions, arrays: Sequence[Any]) -> str | None:
        for name, kind in known.kinds.items():
            if not selectable(kind, known.values[name]):
                return f"what {name} starts from has no order that ranks could choose by"
        changing = {name: known.values[name] for name in known.kinds}
        changing = {name: value for name, value in changing.items() if not isinstance(value, _UNCHANGING)}
        met = self._objects.known if changing else ()
        return reached_otherwise(changing, self._fields, arrays, met)

    def _pack(self, arguments: dict[str, Any]) -> None:
        distributed = {
            id(f.data): f for f in self._fields if f.by_rows or f.spec.stores or f.data in self._staying
        }
        lists = {key: field.data for key, field in distributed.items() if isinstance(field.data, list)}
        packed = self._packed = Packed()

        def carried(value: Any) -> Any:
            return packed.slot(value) if id(value) in distributed else value

        values = [carried(value) for value in arguments.values()]
        space = self._space.with_values(carried(part.values) for part in self._space.parts)
        found = signature(self._kernel)
        common = Objects()
        if found is not None:
            sent = self._conductor.sent_kernel(self._notes.key, found)
            self._kernel_sent = sent or packing.pack_kernel(self._kernel, found)
            self._kernel_bytes = None if sent else self._kernel_sent.data
            common = self._kernel_sent.common
        kernel = self._kernel if found is None else None
        self._objects = Objects(
            lambda: common.known, lambda: packed.slots, lambda: met_by_pickler(packed.pickler)
        )
        packing.pack((kernel, values, space, modules.collect()), packed, lists, common)

    def _form(self, loop: Loop, begun: Solo | None) -> Team:
        first = len(self._space) - len(begun.work) if begun else 0
        self._groups = self._conductor.groups(loop.group, self._weights)
        if loop.group is not None and loop.group > self._wire.ranks:
            self._notes.say(
                f"a group of {loop.group} is more than all {self._wire.ranks} ranks: one group of them"
            )
        if self._conductor.options.group.lacks_speeds(self._weights):
            self._notes.say("no speeds of these ranks are known for groups of equal speed: blocks of ranks")
        call = self._call(self._deal(loop, first), loop)
        self._fields = shared_fields(self._fields, self._packed.slots, self._headers)
        self._conductor.command(call, self._kernel_sent, self._state)
        self._conductor.publisher.broadcast(self._packed.slots, self._headers)
        residents, recorder = self._staying.residents, self._recorder
        crew = self._crew = form_crew(self._wire, call, self._fields, self._objects, residents, recorder)
        self._scatter(crew, loop.walk)
        self._logbook = Logbook(self._wire, self._objects, call.shown)
        loop.contributions.share(self._logbook.journal, self._descriptions)
        self._logbook.open(loop.walk.ordinal)
        loop.walk.times = GroupTimes(len(self._space), call.measured) if call.measured else None
        if begun:
            crew.figures.parts, crew.figures.compute_s = begun.figures.parts, begun.figures.compute_s
        return crew

    def _deal(self, loop: Loop, first: int) -> Deal:
        if self._stay is None or self._pool is not None:
            self._bare = not any(field.moves for field in self._fields)
            return self._dealer.deal(loop, first, pool=self._pool, bare=self._bare)
        stay, staying, notes = self._stay, self._staying, self._notes
        index = self._space.index or IndexMap(0, 1)
        fixed, in_turn = self._asked == STATIC, loop.table.iterations is Distribution.CYCLIC
        return self._dealer.deal(
            loop,
            first,
            lambda deal, bounds: stay.deal(
                notes, index, (deal, () if in_turn else bounds), staying, fixed=fixed
            ),
        )

    def _call(self, deal: Deal, loop: Loop) -> Call:
        conductor = self._conductor
        inside = self._packed.inside
        if self._stay is not None:
            dotted = {id(f.data) for f in self._fields if "." in f.name}
            self._parcels = self._stay.parcels(self._staying, deal, inside - dotted)
            self._spared = self._stay.spared(self._staying, deal, inside - dotted)
            if not loop.contributions.kinds and not self._spared:
                deal, self._ahead = self._stay.ahead(self._notes.key, self._staying, deal, self._parcels)
        by_rows = {
            id(f.data) for f in self._fields if f.by_rows and ("." in f.name or id(f.data) not in inside)
        }
        stored = {id(field.data) for field in self._fields if field.spec.stores}
        self._headers = conductor.publisher.describe(
            self._packed.slots, by_rows, stored, self._staying.tokens
        )
        return Call(
            serial=conductor.next_serial(),
            key=self._notes.key,
            kernel=self._kernel_bytes,
            body=self._packed.body,
            headers=self._headers,
            deal=deal,
            strategy=self._shared_by,
            groups=self._groups,
            rules=conductor.options.group.rules,
            network=conductor.network,
            within=conductor.within(self._groups),
            measured=self._dealer.measured,
            parameters=conductor.parameters,
            exchange_s=conductor.exchange_s,
            surroundings=self._state.surroundings if self._state else None,
            settings=self._settings,
            dropped=conductor.publisher.dropped(),
            shown=shown(),
            known=self._dealer.known if self._pool is not None else Known(),
            bare=self._bare,
            tables=self._tables,
            parcels=self._parcels,
            spared=self._spared,
            ahead=self._ahead,
        )

    def _scatter(self, crew: Crew, walk: Walk) -> None:
        mover = Mover(self._wire, self._travelling, self._objects)
        self._objects.originals = {
            place: list(field.data) for place, field in enumerate(self._fields) if field.copied
        }
        for rank in range(1, self._wire.ranks):
            mover.send(crew.held(rank), rank, Field.scattered)
        mover.complete()
        if self._parcels:
            delivery = Delivery(self._wire, self._parcels, self._staying.arrays())
            walk.await_rows(delivery, self._ahead[0] if self._ahead else range(0))
        self._elements = Elements(self._wire, self._fields, self._objects)

    def _finish(self, loop: Loop) -> None:
        if self._logbook is not None:
            self._logbook.close()
        self._results = [own_result(loop, 0)]
        if isinstance(loop.team, Crew):
            self._gather()
            self._replay(loop.contributions)
        for bar in self._space.bars:
            bar.update(len(self._space) - len(loop.team.figures.done))
            bar.close()

    @property
    def _travelling(self) -> list[Field]:
        """The fields whose rows are scattered and gathered: those that do not stay on the ranks."""
        return [field for field in self._fields if field.data not in self._staying]

    def _gather(self) -> None:
        assert self._elements is not None
        mover = Mover(self._wire, self._travelling, self._objects)
        results: dict[int, Result] = {0: self._results[0]}
        while len(results) < self._wire.ranks:
            rank, message = self._wire.wait_bytes(ANY, RESULT)
            results[rank] = pickle.loads(message)
            mover.receive(results[rank].figures.done, rank, stored_by(results[rank]))
            self._elements.receive(rank)
        mover.complete()
        if clash := self._elements.put():
            raise LostIterationError(f"{self._notes.source}: {clash}; please report this")
        self._results = [results[rank] for rank in range(self._wire.ranks)]
        if self._stay is not None:
            self._stay.ran(self._notes.key, self._staying, self._results)
            if self._crew is not None and self._crew.choice is not None:
                self._stay.chose(self._notes.key, self._crew.strategy)
        self._check()

    def _replay(self, known: Contributions) -> None:
        assert self._logbook is not None
        extents = [result.extents for result in self._results]
        end = min(self._failed_at, len(self._space) - 1)
        self._fault = self._logbook.replay(extents, known.kinds, known.values, end)

    @property
    def _failed_at(self) -> int:
        """The lowest position that failed; groups that were not done have not heard of one another's."""
        return min((r.failure.position for r in self._results if r.failure), default=NO_FAILURE)

    def _check(self) -> None:
        end = min(self._failed_at, len(self._space))
        error = coverage_error(end, [result.figures.done.below(end) for result in self._results])
        if error is not None:
            raise LostIterationError(f"{self._notes.source}: {error}; please report this")
