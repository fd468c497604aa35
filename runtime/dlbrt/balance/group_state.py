"""What every member of a group knows alike: who holds what, how fast each member is, what moving costs.

Law. Work is done in a known order, and profiles say how much of it each member has done; so from the same
profiles every replica of the group state computes the same shares, and with the same decision the same
movement. A replicated balancer decides from its own state; under a central balancer the members receive the
decision and apply it to their states.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from dlbrt.balance.decision import (
    BALANCED,
    UNPROFITABLE,
    Decision,
    DecisionInputs,
    DecisionRule,
    still_pays,
)
from dlbrt.balance.group_estimates import GroupEstimates, SpeedHistory
from dlbrt.balance.messages import NO_FAILURE, GroupReport, MovedWork, Profile, RedistributionGain, Window
from dlbrt.data.spans import Spans
from dlbrt.data.transfer import Plan, Transfer, plan_assignments, plan_transfers
from dlbrt.data.work_table import UNIFORM, Units, WorkTable
from dlbrt.parameters import Parameters
from dlbrt.predict.network import Pattern
from dlbrt.records import dataclass

#: A movement also waits for ranks that are late: a byte is taken to cost at most this many times as much
#: as by the network.
_MAX_BYTE_COST_FACTOR = 10.0

#: The same bound for a synchronization, which waits for ranks within a long iteration.
MAX_WAIT_FACTOR = 10.0

#: How many windows are remembered, the latest ones.
MAX_WINDOWS = 256


@dataclass(frozen=True, slots=True)
class BalancingContext:
    """What holds for a whole run: the units dealt, their work, the bytes that move with a unit.

    ``exchange_s`` is what a synchronization of all ranks costs, ``group_exchange_s`` that of a group,
    ``exchanges`` that of any number of ranks, where it is known. ``without_rows``: units have no data of
    their own that would have to move with them. ``root_bytes`` move with a unit to rank 0, which has all rows
    but those that stay on the ranks.
    """

    units: Units
    parameters: Parameters
    exchange_s: float
    work_table: WorkTable = UNIFORM
    unit_bytes: float = 0.0
    group_exchange_s: Mapping[tuple[int, ...], float] = field(default_factory=dict)
    exchanges: Pattern | None = None
    without_rows: bool = False
    root_bytes: float = 0.0

    def among(self, members: tuple[int, ...]) -> BalancingContext:
        """What holds among these ranks."""
        by_number = self.exchange_s if self.exchanges is None else self.exchanges.seconds(len(members))
        return replace(self, exchange_s=self.group_exchange_s.get(members, by_number))


class GroupState:
    """The state of the group ``members``; ``shares`` and profiles are in their order.

    ``epoch`` numbers the windows, ``failed_at`` is the lowest position known to have failed. ``windows`` are
    the latest; ``synchronizations``, ``redistributions`` and ``gain`` are those of the group. What all ranks
    had in common before they were divided into groups is in the state of the lowest rank's group.
    """

    def __init__(self, members: Sequence[int], shares: Sequence[Spans], context: BalancingContext) -> None:
        self.members = tuple(members)
        self.shares = tuple(shares)
        self.context = context
        self.epoch = 0
        self.failed_at = NO_FAILURE
        self.synchronizations = self.redistributions = 0
        self.gain = RedistributionGain()
        self.windows: deque[Window] = deque(maxlen=MAX_WINDOWS)
        parameters = context.parameters
        self.history = SpeedHistory(
            len(self.members), parameters.min_sample_s, whole=parameters.whole_history
        )
        self._move_byte_s = context.parameters.byte_s
        self._late_s = 0.0  # what members waited for the last synchronization
        self._moved: MovedWork | None = None
        self._places = dict(zip(self.members, range(len(self.members)), strict=True))
        self._estimates: GroupEstimates | None = None

    def of(self, members: Sequence[int]) -> GroupState:
        """The state of a part of the members, which will balance for themselves."""
        places = list(map(self.place, members))
        context = self.context.among(tuple(members))
        part = GroupState(members, [self.shares[place] for place in places], context)
        part.epoch, part.failed_at = self.epoch, self.failed_at
        part.history = self.history.of(places)
        part._move_byte_s = self._move_byte_s
        if self.members[0] in part.members:
            part.synchronizations, part.redistributions = self.synchronizations, self.redistributions
            part.gain, part.windows = self.gain, self.windows.copy()
        return part

    def report(self, reserved: Sequence[int]) -> GroupReport:
        """The report to the other groups; each member keeps the first ``reserved`` units of its share."""
        return GroupReport(
            self.members,
            self.shares,
            tuple(reserved),
            *self.history.totals,
            self.history.speeds,
            self._move_byte_s,
            self.failed_at,
            self.epoch,
            self.synchronizations,
            self.redistributions,
            self.gain,
        )

    def merged(
        self, reports: Sequence[GroupReport], context: BalancingContext
    ) -> tuple[GroupState, tuple[int, ...]]:
        """The state of all ranks by the reports of all groups, and how many units each rank keeps.

        ``context`` is that of all ranks. Neither the order of the reports nor the group of this state makes a
        difference: all ranks that take the same reports have the same state.
        """
        found = sorted(
            (rank, place, report) for report in reports for place, rank in enumerate(report.members)
        )
        shares = [report.shares[place] for _, place, report in found]
        whole = GroupState([rank for rank, _, _ in found], shares, context)
        whole.failed_at = min(report.failed_at for report in reports)
        whole.epoch = 1 + max(report.epoch for report in reports)
        whole.shares = tuple(map(whole._still_wanted, shares))
        whole.history = SpeedHistory.merged(
            [report.work[place] for _, place, report in found],
            [report.compute_s[place] for _, place, report in found],
            [report.speeds[place] if report.speeds else None for _, place, report in found],
            context.parameters.min_sample_s,
            whole=context.parameters.whole_history,
        )
        whole._move_byte_s = max(report.byte_s for report in reports)
        whole.synchronizations = sum(report.synchronizations for report in reports)
        whole.redistributions = sum(report.redistributions for report in reports)
        whole.gain = sum(
            (report.gain for _, report in sorted((s.members, s) for s in reports)), RedistributionGain()
        )
        kept = (
            whole.wanted_of_first(report.shares[place], report.reserved[place]) for _, place, report in found
        )
        return whole, tuple(kept)

    def redistribute(self, reserved: Sequence[int], decide: DecisionRule) -> tuple[Transfer, ...]:
        """Synchronize without a window: what ``decide`` says moves, if anything is left."""
        if self.estimates.over:
            return ()
        self.synchronizations += 1
        nothing = (0,) * len(self.members)
        self.windows.append(Window(self.epoch, self.members, nothing, tuple(map(float, nothing))))
        self.epoch += 1
        return self._rebalance(reserved, decide)

    @property
    def exchange_s(self) -> float:
        """What a synchronization costs the group: by the network, or as the last one took, if longer.

        Hosts that others use too, or more ranks than processors, answer late, which no network shows. For a
        group that was just formed only the network is known at first.
        """
        return self.synchronization_s(1)

    def synchronization_s(self, times: float) -> float:
        """As `exchange_s`, but at least ``times`` the cost by the network."""
        exchange_s = self.context.exchange_s
        return max(times * exchange_s, min(self._late_s, MAX_WAIT_FACTOR * exchange_s))

    def place(self, rank: int) -> int:
        """The index of a rank among the members; KeyError for a rank that is none."""
        return self._places[rank]

    def share(self, rank: int) -> Spans:
        """What a member held at the start of the window."""
        return self.shares[self._places[rank]]

    @property
    def estimates(self) -> GroupEstimates:
        """What follows from the shares and the speeds."""
        found, speeds = self._estimates, self.history.speeds
        if found is None or found.shares is not self.shares or found.speeds is not speeds:
            found = self._estimates = GroupEstimates(self.shares, speeds, self.context.work_table)
        return found

    def settle(self, profiles: Sequence[Profile], decide: DecisionRule) -> tuple[Transfer, ...]:
        """Close the window by the profiles: shares lose what was done; what ``decide`` says moves.

        Where nothing is left, `shares` are empty, and nothing is decided.
        """
        self.failed_at = min(profile.failed_at for profile in profiles)
        self._late_s = self._mean_wait_s([profile.waited_s for profile in profiles])
        counts = [profile.done for profile in profiles]
        self.history.add(profiles, list(map(self.context.work_table.of_first, self.shares, counts)))
        left = tuple(map(Spans.part, self.shares, counts))
        self.shares = left if self.failed_at == NO_FAILURE else tuple(map(self._still_wanted, left))
        self._remember(profiles)
        if not any(self.shares):
            return ()
        self.synchronizations += 1
        self.epoch += 1
        dearest_s = _MAX_BYTE_COST_FACTOR * self.context.parameters.byte_s
        seen_s = min(max(profile.byte_s for profile in profiles), dearest_s)
        self._move_byte_s = seen_s or self._move_byte_s
        reserved = [profile.reserved for profile in profiles]
        return self._rebalance(list(map(self.wanted_of_first, left, reserved)), decide)

    def wanted_of_first(self, spans: Spans, count: int) -> int:
        """How many of the first ``count`` units are still to be done, after a failure perhaps."""
        return count if self.failed_at == NO_FAILURE else len(self._still_wanted(spans.part(0, count)))

    @property
    def remaining_makespan_s(self) -> float | None:
        """How long the slowest member is busy with its share, by the speeds known; None: not known."""
        due = [self.remaining_s(rank) for rank in self.members]
        return None if None in due else max(seconds for seconds in due if seconds is not None)

    @property
    def mean_unit_work(self) -> float:
        """The mean work of a unit held, in quanta; 1 where all units are alike."""
        return self.estimates.mean_unit_work

    def slowest_unit_s(self, besides: int = -1) -> float:
        """How long the slowest member that holds any works before it polls, but for the rank ``besides``.

        It is the time of a unit, or of several.
        """
        unit_s = self.estimates.slowest_unit_s(self._places.get(besides, -1))
        return max(unit_s, self.context.parameters.poll_s) if unit_s else unit_s

    def remaining_s(self, rank: int) -> float | None:
        """How many seconds of computing a member's share takes at its last speed; None: not known."""
        speeds = self.history.speeds
        held = self.context.work_table.of(self.share(rank))
        return None if speeds is None else held / speeds[self._places[rank]]

    def excess_wait_s(self, waited_s: float) -> float:
        """How much longer a wait was than the slowest member's iteration, after which that member polls."""
        return max(0.0, waited_s - max(self.slowest_unit_s(), self.context.parameters.min_sample_s))

    def _mean_wait_s(self, waited_s: Sequence[float]) -> float:
        """How long members waited for the last synchronization on average, where it is known."""
        known = [seconds for seconds in waited_s if seconds > 0]
        return self.excess_wait_s(sum(known) / len(known)) if known else 0.0

    def _remember(self, profiles: Sequence[Profile]) -> None:
        """Keep the window, and complete the record of the one before by its realised gain."""
        speeds = self.history.speeds
        if self._moved is not None and speeds is not None:
            last = replace(self.windows[-1], realised_s=self._moved.gain_s(speeds))
            self.windows[-1] = last
            self.gain += RedistributionGain(1, last.predicted_s or 0.0, last.realised_s or 0.0)
        self._moved = None
        self.windows.append(Window.closed(self.epoch, self.members, profiles))

    def _still_wanted(self, spans: Spans) -> Spans:
        return spans if self.failed_at == NO_FAILURE else self.context.units.wanted(spans, self.failed_at)

    def _rebalance(self, reserved: Sequence[int], decide: DecisionRule) -> tuple[Transfer, ...]:
        speeds, work_table = self.history.speeds, self.context.work_table
        if speeds is None:
            return ()
        decision_inputs = self._decision_inputs(speeds, list(map(work_table.of_first, self.shares, reserved)))
        decision = decide(decision_inputs)
        if decision is None:
            return ()
        self.windows[-1] = replace(self.windows[-1], verdict=decision.verdict.text)
        if not decision.moves:
            return ()
        plan = self._plan(decision, reserved)
        reached = decision.shares if work_table.uniform else list(map(work_table.of, plan.shares))
        if not plan.transfers or not still_pays(decision, reached, speeds, self.context.parameters):
            why = UNPROFITABLE if plan.transfers else BALANCED
            self.windows[-1] = replace(self.windows[-1], verdict=why.text)
            return ()
        self._moved = MovedWork.by(decision, reached, decision_inputs.remaining, speeds)
        count = sum(len(transfer.spans) for transfer in plan.transfers)
        gain_s = self._moved.gain_s(speeds)
        self.windows[-1] = replace(self.windows[-1], moved=count, predicted_s=gain_s)
        self.redistributions += 1
        self.shares = plan.shares
        if self.members == tuple(range(len(self.members))):
            return plan.transfers
        ranks = self.members
        return tuple(Transfer(ranks[t.source], ranks[t.target], t.spans) for t in plan.transfers)

    def _plan(self, decision: Decision, reserved: Sequence[int]) -> Plan:
        work_table = self.context.work_table
        if decision.assignments:
            return plan_assignments(self.shares, decision.assignments, work_table, reserved)
        return plan_transfers(self.shares, decision.shares, work_table, reserved)

    def _decision_inputs(self, speeds: Sequence[float], held: Sequence[int]) -> DecisionInputs:
        """The inputs of the decision; ``held`` is the work that stays in any case."""
        context = self.context
        remaining = tuple(map(context.work_table.of, self.shares))
        return DecisionInputs(
            remaining,
            held,
            speeds,
            self.exchange_s,
            self.mean_unit_work,
            context.unit_bytes * self._move_byte_s,
            context.parameters,
        )
