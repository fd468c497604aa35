"""A loop that is to run, made ready at rank 0: whether it can be shared, and the call by which it is.

A loop cannot be shared where the proof's assumptions do not hold of the data (`dlbrt.data.hazard`), or where
something that iterations use cannot leave this process (`dlbrt.mpi.root.payload`).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dlbrt.balance.restart import deal_of_rest
from dlbrt.balance.strategies import pooled
from dlbrt.chunks.statistics import LoopStatistics
from dlbrt.contract import Distribution
from dlbrt.data.access_table import FootprintError
from dlbrt.data.array_table import root_of
from dlbrt.data.field import overwriting, reached_whole
from dlbrt.data.footprint import IndexMap
from dlbrt.data.hazard import hazard, holders
from dlbrt.data.layout import InitialPartition
from dlbrt.data.loop_fields import reached_twice
from dlbrt.data.shown_warnings import collects_warnings
from dlbrt.data.space import Space
from dlbrt.data.spans import Spans
from dlbrt.mpi.call import LoopCall, SlotHeader
from dlbrt.mpi.interrupts import interrupts
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.root.contribution_obstacles import contribution_obstacle, selection_obstacle
from dlbrt.mpi.root.partitioner import Partitioner
from dlbrt.mpi.root.payload import Payload
from dlbrt.mpi.root.runtime import RootRuntime
from dlbrt.mpi.routines.loop_residents import ArrayTransfer, Eviction
from dlbrt.mpi.values.code_reach import finalized_class
from dlbrt.mpi.values.generators import is_replaced
from dlbrt.mpi.values.kernels import named
from dlbrt.mpi.values.left_behind import CannotLeaveError
from dlbrt.mpi.values.taken_apart import by_value
from dlbrt.mpi.watch import Watch, foreign_object, watch_of
from dlbrt.parameters import COMPILED_S, Parameters
from dlbrt.predict.groups import Groups
from dlbrt.reductions.contributions import combines_surely
from dlbrt.reductions.output import is_real, output_properties
from dlbrt.reductions.unbound import is_unbound

if TYPE_CHECKING:
    from dlbrt.mpi.routines.routine_state import RoutineState

Kernel = Callable[..., None]

#: What a guard asks of an array to slices of which iterations store: those of a list may change its length.
_HAS_AXES = ".ndim > 0"


class Preparation:
    """A loop to be run: whether it can be shared (`obstacle`), and the call by which it is (`compose`).

    ``routine_state`` belongs to the routine that the loop is part of, if any: arrays of it stay on the ranks.
    ``named`` are the arguments by the kernel's parameters; ``loop_history`` is what earlier runs have left;
    ``payload`` is what the other ranks get.
    """

    def __init__(
        self,
        root_runtime: RootRuntime,
        kernel: Kernel,
        space: Space,
        arguments: Sequence[Any],
        routine_state: RoutineState | None,
    ) -> None:
        self.root_runtime = root_runtime
        self.kernel = by_value(kernel)
        self.space = space
        self.arguments = arguments
        self.routine_state = routine_state
        self.named = named(kernel, arguments)
        self.loop_history = root_runtime.program_history.loop_history(kernel)
        self.payload = Payload(root_runtime, self.kernel, self.named, space, routine_state, self.loop_history)

    def fetch_to_root(self, loop: LoopContext) -> None:
        """Make valid at rank 0 everything of the routine's that the loop touches."""
        if self.routine_state is not None:
            self.routine_state.fetch_for_root(loop, self.kernel, self.named, self.space)

    def obstacle(self, loop: LoopContext, *, pooled: bool) -> str | None:
        """Why the loop cannot be shared, in words; None where it can, and everything is ready.

        ``pooled``: work is dealt from a pool at rank 0, so the arrays must be there as well.
        """
        if loop.unmet is not None:
            array = loop.unmet.removesuffix(_HAS_AXES)
            if array != loop.unmet:
                return f"{array} is no array, and iterations store to slices of it"
            return f"{loop.unmet} does not hold"
        if is_replaced(loop.generators):
            return "the program has given numpy's global generator another bit generator (set_bit_generator)"
        if collects_warnings():
            return "the program collects warnings, or shows them by a function of its own"
        if not {"call", "log", "print"}.isdisjoint(np.geterr().values()):
            return "the program has a function called, or a line written, for numpy's errors (np.seterr)"
        if self.loop_history.withheld:
            return self.loop_history.withheld
        for name in (*loop.table.specs, *loop.contributions.kinds):
            if is_unbound(value := self.named[root_of(name)]):
                return f"{value.name} has no value"
        places = loop.contributions.places
        if reason := places.obstacle() or self._finalizer_obstacle():
            return reason
        try:
            with places.emptied():
                if pooled:
                    self.fetch_to_root(loop)
                self.payload.find(loop, pooled=pooled)
                if (reason := self._view_obstacle(loop)) is not None:
                    return reason
                self.payload.pack(loop.contributions, lean=not self.watches(loop))
                if self.payload.as_before:
                    return selection_obstacle(loop.contributions)
                reason = self._hazard() or contribution_obstacle(
                    loop, self.payload, self.space.containers, self.named
                )
                if reason is None:
                    self.payload.keep_packed()
                return reason
        except (FootprintError, CannotLeaveError) as error:
            return str(error)
        except BaseException as error:  # objects' own pickling hooks and attributes may raise anything
            return f"what it uses cannot be sent to other ranks ({type(error).__name__}: {error})"

    def watches(self, loop: LoopContext) -> bool:
        """Whether what the plan takes as unchanged is to be looked at."""
        if self.root_runtime.options.trust:
            return False
        given = {name: held for name, held in self.named.items() if name not in loop.contributions.kinds}
        if not loop.unseen_calls and (foreign := foreign_object(given)):
            loop.unseen_calls = {foreign: 0}
        return bool(loop.unseen_calls)

    def watch(self, loop: LoopContext, dealt: Spans) -> Watch:
        """What rank 0's iterations ``dealt`` reach and the plan takes as unchanged, as it is now."""
        residents = [id(value) for value in self.payload.packed.slots if value in self.payload.loop_residents]
        slots = self.payload.packed.slots
        reached = self.kernel, self.named, slots, self.payload.fields, residents
        return watch_of(loop, *reached, dealt, whole=True, behind=self.payload.departure.behind)

    def compose(
        self, loop: LoopContext, first: int, strategy: str, partitioner: Partitioner, *, fixed: bool
    ) -> LoopCall:
        """The call to run what is left of the loop from position ``first`` on: one message to all ranks.

        ``strategy`` is what ranks begin with; ``fixed``: shares are never cut anew.
        """
        root_runtime, state, pool = self.root_runtime, self.payload.state, pooled(strategy)
        network, host_names = root_runtime.network, root_runtime.program_history.host_names
        groups = self._groups(loop, partitioner.weights)
        resident = self.routine_state is not None and pool is None
        self.payload.departure.begin()
        overwritten = self._overwritten(loop)
        self.payload.fields = overwriting(self.payload.fields, overwritten)
        # Chunks are claimed without a master by a counter in a window, which does not outlive ranks.
        claims = not resident and not any(field.moves for field in self.payload.fields)
        without_rows = claims and not root_runtime.communicator.tolerates_deaths
        if resident:
            deal = self._deal_as_before(loop, first, partitioner, fixed=fixed)
        else:
            deal = partitioner.deal(loop, first, pool=pool, without_rows=without_rows, fixed=fixed)
        deal, array_transfers, evictions, ahead = self._transfers(loop, deal)
        in_doubt = self.payload.is_in_doubt()
        return LoopCall(
            serial=next(root_runtime.serials),
            key=self.loop_history.key,
            source=self.loop_history.source,
            kernel=self.payload.kernel_pickle,
            body=self.payload.packed.body,
            headers=self._headers(),
            deal=deal,
            strategy=strategy,
            groups=groups,
            rules=root_runtime.options.group.rules,
            network=network,
            within=root_runtime.networks.of_groups(groups, host_names),
            measured=partitioner.measured,
            parameters=self._parameters(loop),
            exchange_s=network.all_to_all.seconds(root_runtime.communicator.ranks),
            environment=state.environment if state else None,
            settings=self.payload.settings,
            dropped=root_runtime.publisher.dropped(),
            output_properties=output_properties(),
            known=partitioner.known if pool is not None else LoopStatistics(),
            without_rows=without_rows,
            tables=self.payload.tables,
            array_transfers=array_transfers,
            evictions=evictions,
            ahead=ahead,
            watched=self.watches(loop),
            live=self._shows_live(loop),
            in_doubt=in_doubt,
            plain=self.payload.is_plain,
            overwritten=overwritten,
            samples=self.payload.samples if in_doubt else None,
            undisturbed=interrupts.are_put_off,
        )

    def compose_rest(
        self, loop: LoopContext, left: Spans, strategy: str, partitioner: Partitioner
    ) -> LoopCall:
        """The call to run the positions ``left`` of a loop that a death has called off, in blocks."""
        call = self.compose(loop, left.runs[0].start, strategy, partitioner, fixed=True)
        deal = deal_of_rest(left, len(self.space), self.root_runtime.communicator.ranks)
        return replace(call, deal=deal, measured=0)

    def _overwritten(self, loop: LoopContext) -> tuple[str, ...]:
        """The arrays whose rows are not sent, since each iteration that ends overwrites them.

        One that fails leaves a row in part as it was. Then rank 0, which has the old rows, does again what
        that rank has done. So the loop must be short, nothing may stay on the ranks, and no call that is
        not seen, or use of what has stayed at rank 0, may come twice.
        """
        history, behind = self.loop_history, self.payload.departure.behind
        if self.routine_state is not None or behind or self.watches(loop) or history.rows_missed:
            return ()
        if not history.sharing.repeats_cheaply(len(self.space)):
            return ()
        return tuple(field.name for field in self.payload.fields if field.overwrites)

    def _shows_live(self, loop: LoopContext) -> bool:
        """Whether output can be shown while the loop runs.

        What iterations have done then stands: no plan is contradicted, contributions can be applied (ranks
        look at each), and whatever a rank cannot send back can be done again. Not so where ranks may die.
        """
        if self.root_runtime.communicator.tolerates_deaths:
            return False
        known = loop.contributions
        sure = all(combines_surely(kind, known.values[name]) for name, kind in known.kinds.items())
        stands = sure and not (self.watches(loop) or self.payload.loop_residents.residents)
        return stands and is_real(sys.stdout)

    def _view_obstacle(self, loop: LoopContext) -> str | None:
        """A part of an array (``rec["x"]``) where only whole arrays stay on the ranks, or are watched."""
        made = [field for field in self.payload.fields if field.made]
        if made and self.routine_state is not None:
            return f"{made[0].name} is a part of an array, which cannot stay on the ranks by itself"
        stored = next((field.name for field in made if field.spec.stores), None)
        if stored is not None and self.watches(loop):
            return f"{stored} is a part of an array, and calls that dlbc has not seen may change the others"
        return None

    def _hazard(self) -> str | None:
        """Why the data forbids sharing the loop, if it does."""
        if reason := reached_twice(self.payload.fields, self.named, self.payload.packed.several):
            return reason
        hidden = self.payload.reached_inside() | reached_whole(self.payload.fields, self.named)
        met = (
            self.payload.objects.known.objects
            if any(field.spec.in_place for field in self.payload.fields)
            else ()
        )
        return hazard(self.payload.fields, self.payload.arrays(), hidden, len(self.space), met, self.named)

    def _finalizer_obstacle(self) -> str | None:
        reached = [*self.named.values(), *(part.values for part in self.space.parts)]
        kind = finalized_class(self.kernel, reached)
        return None if kind is None else f"the finalizer of {kind.__name__} would run on other ranks"

    def _groups(self, loop: LoopContext, weights: Sequence[float]) -> Groups:
        """The groups of a local strategy; a wish that cannot be met is logged."""
        root_runtime, ranks = self.root_runtime, self.root_runtime.communicator.ranks
        rule = root_runtime.options.group
        if loop.group is not None and loop.group > ranks:
            self.loop_history.log(
                f"a group of {loop.group} is more than all {ranks} ranks: one group of them"
            )
        if rule.lacks_speeds(weights):
            self.loop_history.log(
                "no speeds of these ranks are known for groups of equal speed: blocks of ranks"
            )
        host_names = root_runtime.program_history.host_names
        return rule.formed(host_names, weights, loop.group or self._tuned_size(host_names))

    def _tuned_size(self, host_names: Sequence[str]) -> int | None:
        """The size of groups by the model; None where the user gives it, or hosts have unlike numbers."""
        rule, by_host = self.root_runtime.options.group, Counter(host_names)
        if rule.size is not None or rule.kind is not None or len(set(by_host.values())) != 1:
            return None
        return self.loop_history.group_size(by_host[host_names[0]] if len(by_host) > 1 else 1)

    def _deal_as_before(
        self, loop: LoopContext, first: int, partitioner: Partitioner, *, fixed: bool
    ) -> InitialPartition:
        """The partition of a loop whose arrays stay on the ranks: the owners of the rows go on with them."""
        routine_state, loop_history, residents = (
            self.routine_state,
            self.loop_history,
            self.payload.loop_residents,
        )
        assert routine_state is not None
        index = self.space.index or IndexMap(0, 1)
        in_turn = loop.table.iterations is Distribution.CYCLIC

        def kept(deal: InitialPartition, bounds: Sequence[int]) -> InitialPartition:
            dealt = (deal, () if in_turn else bounds)
            weights = partitioner.weights
            return routine_state.deal(loop_history, index, dealt, residents, fixed=fixed, weights=weights)

        return partitioner.deal(loop, first, kept)

    def _transfers(
        self, loop: LoopContext, deal: InitialPartition
    ) -> tuple[InitialPartition, tuple[ArrayTransfer, ...], tuple[Eviction, ...], tuple[range, ...]]:
        """The rows of residents that ranks lack, those they evict, and the iterations that need not wait.

        The partition is returned with those iterations first.
        """
        routine_state, loop_residents = self.routine_state, self.payload.loop_residents
        if routine_state is None:
            return deal, (), (), ()
        reached = self.payload.reached_inside()
        array_transfers = routine_state.array_transfers(loop_residents, deal, reached)
        evictions = routine_state.evictions(loop_residents, deal, reached, routine_state.running_ownership)
        if loop.contributions.kinds or evictions:
            return deal, array_transfers, evictions, ()
        deal, ahead = routine_state.ahead(self.loop_history.key, loop_residents, deal, array_transfers)
        return deal, array_transfers, evictions, ahead

    def _headers(self) -> tuple[SlotHeader, ...]:
        """How the contents of the slots are sent."""
        reached = self.payload.reached_inside()
        by_rows = {id(f.data) for f in self.payload.fields if f.by_rows and id(f.data) not in reached}
        changed = [field for field in self.payload.fields if field.spec.stores]
        stored = {id(field.data) for field in changed}
        stored |= {id(array) for field in changed for array in holders(field, self.payload.arrays())}
        tokens = self.payload.loop_residents.tokens
        return self.root_runtime.publisher.describe(self.payload.packed.slots, by_rows, stored, tokens)

    def _parameters(self, loop: LoopContext) -> Parameters:
        """The parameters of this run; where chunks are compiled, ranks poll after them."""
        common, asks = self.root_runtime.parameters, self.loop_history.asks_model
        poll_s = common.poll_s if loop.walk.chunks is None else COMPILED_S
        return replace(common, poll_s=poll_s, asks_model=asks)
