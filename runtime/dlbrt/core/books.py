"""What every member of a group knows alike: who holds what, how fast each is, what moving costs.

Law. Work is done in a known order, and profiles say how much of it each member has done; so from the same
profiles every replica of the books computes the same shares, and with the same decision the same movement.
A replicated balancer decides by its own books; under a central one the decision is brought to the members,
and their books take it in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace

from dlbrt.core.decision import BALANCED, UNPROFITABLE, Decision, still_pays
from dlbrt.core.history import History
from dlbrt.core.model.network import Pattern
from dlbrt.core.parameters import Parameters
from dlbrt.core.profile import NO_FAILURE, Profile
from dlbrt.core.standing import Standing
from dlbrt.core.statement import Statement
from dlbrt.core.strategy import Situation
from dlbrt.core.windows import Gain, Moved, Window
from dlbrt.dist.amounts import UNIFORM, Amounts
from dlbrt.dist.spans import Spans
from dlbrt.dist.transfer import Plan, Transfer, plan_gifts, plan_transfers
from dlbrt.dist.units import Units
from dlbrt.records import dataclass

__all__ = ["MOST_LATE", "WINDOWS", "Books", "Terms"]

#: A movement also waits for ranks that are late to it: a byte is not taken to cost more than so many times
#: what the network is known for.
_DEAREST = 10.0

#: Likewise a synchronization, which waits for ranks within a long iteration.
MOST_LATE = 10.0

#: Windows that are remembered, the latest ones.
WINDOWS = 256


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for a whole run: what is dealt, how much work that is, the bytes that move with a unit.

    ``exchange_s`` is what a synchronization of all ranks costs, ``group_exchange_s`` one of a group,
    ``exchanges`` one of any other ranks by their number, where that is known. ``bare``: units have no data of
    their own that would have to go with them.
    """

    units: Units
    parameters: Parameters
    exchange_s: float
    amounts: Amounts = UNIFORM
    unit_bytes: float = 0.0
    group_exchange_s: Mapping[tuple[int, ...], float] = field(default_factory=dict)
    exchanges: Pattern | None = None
    bare: bool = False

    def among(self, members: tuple[int, ...]) -> Terms:
        """What holds among these ranks."""
        of_so_many = self.exchange_s if self.exchanges is None else self.exchanges.seconds(len(members))
        return replace(self, exchange_s=self.group_exchange_s.get(members, of_so_many))


class Books:
    """The books of the group ``members``; ``shares`` and profiles are in their order.

    ``epoch`` numbers the windows, ``failed_at`` is the lowest position known to have failed. ``windows`` are
    the latest, ``synchronizations``, ``redistributions`` and ``gain`` are those of the group: what all ranks
    had in common before they parted is in the books of the group that the lowest rank is in.
    """

    def __init__(self, members: Sequence[int], shares: Sequence[Spans], terms: Terms) -> None:
        self.members = tuple(members)
        self.shares = tuple(shares)
        self.terms = terms
        self.epoch = 0
        self.failed_at = NO_FAILURE
        self.synchronizations = self.redistributions = 0
        self.gain = Gain()
        self.windows: deque[Window] = deque(maxlen=WINDOWS)
        self.history = History(len(self.members), terms.parameters.least_sample_s)
        self._move_byte_s = terms.parameters.byte_s
        self._late_s = 0.0  # what members waited for the last synchronization
        self._moved: Moved | None = None
        self._places = dict(zip(self.members, range(len(self.members)), strict=True))
        self._standing: Standing | None = None

    def of(self, members: Sequence[int]) -> Books:
        """The same for a part of the members, who will keep books of their own."""
        places = list(map(self.place, members))
        terms = self.terms.among(tuple(members))
        part = Books(members, [self.shares[place] for place in places], terms)
        part.epoch, part.failed_at = self.epoch, self.failed_at
        part.history = self.history.of(places)
        part._move_byte_s = self._move_byte_s
        if self.members[0] in part.members:
            part.synchronizations, part.redistributions = self.synchronizations, self.redistributions
            part.gain, part.windows = self.gain, self.windows.copy()
        return part

    def statement(self, reserved: Sequence[int]) -> Statement:
        """What the group tells the others at a round; the first ``reserved`` units of each share are kept."""
        return Statement(
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

    def joined(self, statements: Sequence[Statement], terms: Terms) -> tuple[Books, tuple[int, ...]]:
        """The books of all ranks, as the statements of all groups have it, and how much each rank keeps.

        ``terms`` are those among all. The order of the statements makes no difference, nor does whose books
        these are: all that take the same statements have the same books.
        """
        found = sorted((rank, place, said) for said in statements for place, rank in enumerate(said.members))
        shares = [said.shares[place] for _, place, said in found]
        whole = Books([rank for rank, _, _ in found], shares, terms)
        whole.failed_at = min(said.failed_at for said in statements)
        whole.epoch = 1 + max(said.epoch for said in statements)
        whole.shares = tuple(map(whole._still_wanted, shares))
        whole.history = History.joined(
            [said.work[place] for _, place, said in found],
            [said.compute_s[place] for _, place, said in found],
            [said.speeds[place] if said.speeds else None for _, place, said in found],
            terms.parameters.least_sample_s,
        )
        whole._move_byte_s = max(said.byte_s for said in statements)
        whole.synchronizations = sum(said.synchronizations for said in statements)
        whole.redistributions = sum(said.redistributions for said in statements)
        whole.gain = sum((said.gain for _, said in sorted((s.members, s) for s in statements)), Gain())
        kept = (whole.wanted_of_first(said.shares[place], said.reserved[place]) for _, place, said in found)
        return whole, tuple(kept)

    def redistribute(
        self, reserved: Sequence[int], decide: Callable[[Situation], Decision | None]
    ) -> tuple[Transfer, ...]:
        """A synchronization that no window led to: what ``decide`` says moves, if anything is left."""
        if self.standing.over:
            return ()
        self.synchronizations += 1
        nothing = (0,) * len(self.members)
        self.windows.append(Window(self.epoch, self.members, nothing, tuple(map(float, nothing))))
        self.epoch += 1
        return self._rebalance(reserved, decide)

    @property
    def exchange_s(self) -> float:
        """What a synchronization costs the group: by the network, or what the last one has shown, if more.

        Hosts that others use too, or more ranks than processors, answer late, which no network tells. Of a
        group that has come about by parting or joining, only the network is known at first.
        """
        return self.lasts_s(1)

    def lasts_s(self, times: float) -> float:
        """The same, allowing for so many times what it costs by the network."""
        exchange_s = self.terms.exchange_s
        return max(times * exchange_s, min(self._late_s, MOST_LATE * exchange_s))

    def place(self, rank: int) -> int:
        """The place of a member among them; KeyError for a rank that is none."""
        return self._places[rank]

    def share(self, rank: int) -> Spans:
        """What a member held at the start of the window."""
        return self.shares[self._places[rank]]

    @property
    def standing(self) -> Standing:
        """What follows from the shares and the speeds."""
        found, speeds = self._standing, self.history.speeds
        if found is None or found.shares is not self.shares or found.speeds is not speeds:
            found = self._standing = Standing(self.shares, speeds, self.terms.amounts)
        return found

    def settle(
        self, profiles: Sequence[Profile], decide: Callable[[Situation], Decision | None]
    ) -> tuple[Transfer, ...]:
        """Close the window by the profiles: what was done is gone; what ``decide`` says moves.

        Where nothing is left, `shares` are empty, and nothing is decided.
        """
        self.failed_at = min(profile.failed_at for profile in profiles)
        self._late_s = self._mean_wait_s([profile.waited_s for profile in profiles])
        counts = [profile.done for profile in profiles]
        self.history.add(profiles, list(map(self.terms.amounts.of_first, self.shares, counts)))
        left = tuple(map(Spans.part, self.shares, counts))
        self.shares = left if self.failed_at == NO_FAILURE else tuple(map(self._still_wanted, left))
        self._remember(profiles)
        if not any(self.shares):
            return ()
        self.synchronizations += 1
        self.epoch += 1
        dearest_s = _DEAREST * self.terms.parameters.byte_s
        seen_s = min(max(profile.byte_s for profile in profiles), dearest_s)
        self._move_byte_s = seen_s or self._move_byte_s
        reserved = [profile.reserved for profile in profiles]
        return self._rebalance(list(map(self.wanted_of_first, left, reserved)), decide)

    def wanted_of_first(self, spans: Spans, count: int) -> int:
        """How many of the first units are still to be done, there being a failure perhaps."""
        return count if self.failed_at == NO_FAILURE else len(self._still_wanted(spans.part(0, count)))

    @property
    def left_s(self) -> float | None:
        """How long the last member is busy with its share, by the speeds known; None: not known."""
        due = [self.due_after(rank) for rank in self.members]
        return None if None in due else max(seconds for seconds in due if seconds is not None)

    @property
    def unit(self) -> float:
        """The mean work of a unit held, in ticks; 1 where all are alike."""
        return self.standing.unit

    def slowest_s(self, besides: int = -1) -> float:
        """How long a unit takes the slowest member that holds any, by the speeds known, one apart."""
        return self.standing.slowest_s(self._places.get(besides, -1))

    def due_after(self, rank: int) -> float | None:
        """How many seconds of computing a member's share is by its last speed; None: not known."""
        speeds = self.history.speeds
        held = self.terms.amounts.of(self.share(rank))
        return None if speeds is None else held / speeds[self._places[rank]]

    def late_s(self, waited_s: float) -> float:
        """What of a wait for others is not for the slowest one's iteration: a rank looks around after it."""
        return max(0.0, waited_s - max(self.slowest_s(), self.terms.parameters.least_sample_s))

    def _mean_wait_s(self, waited_s: Sequence[float]) -> float:
        """What members waited for the last synchronization on average, of those that know it."""
        known = [seconds for seconds in waited_s if seconds > 0]
        return self.late_s(sum(known) / len(known)) if known else 0.0

    def _remember(self, profiles: Sequence[Profile]) -> None:
        """Keep the window, and say of the one before what its decision was worth."""
        speeds = self.history.speeds
        if self._moved is not None and speeds is not None:
            last = replace(self.windows[-1], realised_s=self._moved.gain_s(speeds))
            self.windows[-1] = last
            self.gain += Gain(1, last.predicted_s or 0.0, last.realised_s or 0.0)
        self._moved = None
        self.windows.append(Window.closed(self.epoch, self.members, profiles))

    def _still_wanted(self, spans: Spans) -> Spans:
        return spans if self.failed_at == NO_FAILURE else self.terms.units.wanted(spans, self.failed_at)

    def _rebalance(
        self, reserved: Sequence[int], decide: Callable[[Situation], Decision | None]
    ) -> tuple[Transfer, ...]:
        speeds, amounts = self.history.speeds, self.terms.amounts
        if speeds is None:
            return ()
        situation = self._situation(speeds, list(map(amounts.of_first, self.shares, reserved)))
        decision = decide(situation)
        if decision is None:
            return ()
        self.windows[-1] = replace(self.windows[-1], verdict=decision.verdict.word)
        if not decision.moves:
            return ()
        plan = self._plan(decision, reserved)
        reached = decision.shares if amounts.uniform else list(map(amounts.of, plan.shares))
        if not plan.transfers or not still_pays(decision, reached, speeds, self.terms.parameters):
            why = UNPROFITABLE if plan.transfers else BALANCED
            self.windows[-1] = replace(self.windows[-1], verdict=why.word)
            return ()
        self._moved = Moved.by(decision, reached, situation.remaining, speeds)
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
        amounts = self.terms.amounts
        if decision.gifts:
            return plan_gifts(self.shares, decision.gifts, amounts, reserved)
        return plan_transfers(self.shares, decision.shares, amounts, reserved)

    def _situation(self, speeds: Sequence[float], held: Sequence[int]) -> Situation:
        """What is decided by; ``held`` is the work of what stays in any case."""
        terms = self.terms
        remaining = tuple(map(terms.amounts.of, self.shares))
        return Situation(
            remaining,
            held,
            speeds,
            self.exchange_s,
            self.unit,
            terms.unit_bytes * self._move_byte_s,
            terms.parameters,
        )
