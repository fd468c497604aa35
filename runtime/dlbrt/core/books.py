"""What every member of a group knows alike: who holds what, how fast each is, what moving costs.

Law. Work is done in a known order, and profiles say how much of it each member has done; so from the same
profiles every replica of the books computes the same shares, and with the same decision the same movement.
A replicated balancer decides by its own books; under a central one the decision is brought to the members,
and their books take it in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dlbrt.core.decision import Decision, still_pays
from dlbrt.core.history import History
from dlbrt.core.parameters import Parameters
from dlbrt.core.profile import NO_FAILURE, Profile
from dlbrt.core.strategy import Situation
from dlbrt.dist.amounts import UNIFORM, Amounts
from dlbrt.dist.spans import Spans
from dlbrt.dist.transfer import Transfer, apply, plan_transfers
from dlbrt.dist.units import Units

__all__ = ["Books", "Terms"]


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for a whole run: what is dealt, how much work that is, the bytes that move with a unit.

    ``exchange_s`` is what a synchronization costs.
    """

    units: Units
    parameters: Parameters
    exchange_s: float
    amounts: Amounts = UNIFORM
    unit_bytes: float = 0.0


class Books:
    """The books of the group ``members``; ``shares`` and profiles are in their order.

    ``epoch`` numbers the windows, ``failed_at`` is the lowest position known to have failed.
    """

    def __init__(self, members: Sequence[int], shares: Sequence[Spans], terms: Terms) -> None:
        self.members = tuple(members)
        self.shares = tuple(shares)
        self.terms = terms
        self.epoch = 0
        self.failed_at = NO_FAILURE
        self.synchronizations = 0
        self.decisions: list[Decision] = []
        self.history = History(len(self.members), terms.parameters.least_sample_s)
        self._move_byte_s = terms.parameters.byte_s

    def of(self, members: Sequence[int]) -> Books:
        """The same for a part of the members, who will keep books of their own."""
        places = [self.members.index(rank) for rank in members]
        part = Books(members, [self.shares[place] for place in places], self.terms)
        part.epoch, part.failed_at, part.synchronizations = self.epoch, self.failed_at, self.synchronizations
        part.history = self.history.of(places)
        part._move_byte_s = self._move_byte_s
        return part

    def share(self, rank: int) -> Spans:
        """What a member held at the start of the window."""
        return self.shares[self.members.index(rank)]

    def settle(
        self, profiles: Sequence[Profile], decide: Callable[[Situation], Decision | None]
    ) -> tuple[Transfer, ...]:
        """Close the window by the profiles: what was done is gone; what ``decide`` says moves.

        Where nothing is left, `shares` are empty, and nothing is decided.
        """
        self.failed_at = min(profile.failed_at for profile in profiles)
        done, left = zip(
            *(held.first(p.done) for held, p in zip(self.shares, profiles, strict=True)), strict=True
        )
        self.shares = tuple(map(self._still_wanted, left))
        if not any(self.shares):
            return ()
        self.synchronizations += 1
        self.epoch += 1
        self.history.add(profiles, [self.terms.amounts.of(spans) for spans in done])
        self._move_byte_s = max(profile.byte_s for profile in profiles) or self._move_byte_s
        reserved = [
            self.wanted_of_first(*pair) for pair in zip(left, (p.reserved for p in profiles), strict=True)
        ]
        return self._rebalance(reserved, decide)

    def wanted_of_first(self, spans: Spans, count: int) -> int:
        """How many of the first units are still to be done, there being a failure perhaps."""
        return len(self._still_wanted(spans.first(count)[0]))

    def due_after(self, rank: int) -> float | None:
        """How many seconds of computing a member's share is by its last speed; None: not known."""
        speeds = self.history.speeds
        held = self.terms.amounts.of(self.share(rank))
        return None if speeds is None else held / speeds[self.members.index(rank)]

    def _still_wanted(self, spans: Spans) -> Spans:
        return spans if self.failed_at == NO_FAILURE else self.terms.units.wanted(spans, self.failed_at)

    def _rebalance(
        self, reserved: Sequence[int], decide: Callable[[Situation], Decision | None]
    ) -> tuple[Transfer, ...]:
        speeds, amounts = self.history.speeds, self.terms.amounts
        if speeds is None:
            return ()
        kept, free = zip(
            *(spans.first(count) for spans, count in zip(self.shares, reserved, strict=True)), strict=True
        )
        held = [amounts.of(spans) for spans in kept]
        decision = decide(self._situation(speeds, held, free))
        if decision is None:
            return ()
        self.decisions.append(decision)
        if not decision.moves:
            return ()
        wanted = [share - amount for share, amount in zip(decision.shares, held, strict=True)]
        transfers = plan_transfers(free, wanted, amounts)
        moved = apply(free, transfers)
        shares = tuple(one.then(other) for one, other in zip(kept, moved, strict=True))
        reached = [amounts.of(spans) for spans in shares]
        if not still_pays(decision, reached, speeds, self.terms.parameters):
            return ()
        self.shares = shares
        return tuple(Transfer(self.members[t.source], self.members[t.target], t.spans) for t in transfers)

    def _situation(self, speeds: Sequence[float], held: Sequence[int], free: Sequence[Spans]) -> Situation:
        """What is decided by; ``held`` is the work of what stays in any case, ``free`` what may move."""
        terms = self.terms
        remaining = tuple(amount + terms.amounts.of(spans) for amount, spans in zip(held, free, strict=True))
        return Situation(
            remaining,
            held,
            speeds,
            terms.exchange_s,
            sum(remaining) / sum(map(len, self.shares)) or 1.0,
            terms.unit_bytes * self._move_byte_s,
            terms.parameters,
        )
