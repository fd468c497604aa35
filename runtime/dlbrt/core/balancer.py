"""The balancer of one rank: events in, actions out; no MPI, no clock, no randomness.

Law. The loop's iterations are dealt to ranks at the start, one by one or in pairs (`Units`). Time is cut
into windows, numbered by epoch; a synchronization of the group ends each: its members' profiles are exchanged
among them, or sent to the central balancer, which decides for all. Every member keeps the same picture of who
holds what (`Books`), because profiles say how many units each has done and work is done in a known order; so
every member computes the same movement, and nothing but profiles (and a central decision) needs to travel.
The loop ends for a group at the synchronization that finds nothing left in it.

A rank gives its profile when it runs out of work or when it is interrupted, whichever comes first. One
that has run out interrupts the others (receiver-initiated balancing, Zaki et al., section 1.2), not at
once but when it pays: see `dlbrt.core.patience`. A rank that a synchronization left without work never
interrupts. An interrupt of an epoch that has passed is dropped. Under strategies that go by the clock
(`Clocked`) a rank gives its profile uninterrupted when a period has passed since the last synchronization.

A rank need not idle while the profiles travel: it reserves some of its next iterations, says so in its
profile, and works on them. The decision leaves them where they are, and they stay first in its order of
execution, so that counts go on telling which iterations are done. So one that is about to run out, and sees
that the others are not, interrupts them a little before, and does the last of its work meanwhile.

Where a strategy is to be chosen, rank 0 does so after the first synchronization (Zaki et al., section 1.3.3),
while the others work; until they have heard of it, nobody takes part in another synchronization. One under
which ranks do not synchronize is the end of this balancer: its ``successor`` goes on with what it holds.

A failure of the body at position f cuts the work: iterations from f on are dropped everywhere, those
before f are still done, so that the failure reported is that of the lowest failing iteration. Other groups
are told by an alarm, which a member passes on in its next profile.

Where groups exchange work, a window may be followed by a round of all groups: see `dlbrt.core.regrouping`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dlbrt.core.actions import (
    Action,
    Alarm,
    Announce,
    Choose,
    Exchange,
    Finish,
    Interrupt,
    Move,
    Report,
    Resume,
)
from dlbrt.core.agent import Account, Agent, PeerStrategy, Start, take_over
from dlbrt.core.books import Books, Terms
from dlbrt.core.center import Center
from dlbrt.core.decision import Decision
from dlbrt.core.events import (
    Alarmed,
    Asked,
    Committed,
    Event,
    Exchanged,
    Exhausted,
    Failed,
    Given,
    Instructed,
    Interrupted,
    Reported,
    Told,
    Waited,
    Worked,
)
from dlbrt.core.model.groups import GroupRules, Groups
from dlbrt.core.pace import UNKNOWN, Pace
from dlbrt.core.patience import time_to_ask
from dlbrt.core.profile import NO_FAILURE, Profile
from dlbrt.core.registry import strategy
from dlbrt.core.rounds import Rounds
from dlbrt.core.strategy import Clocked, Situation, Strategy, leave
from dlbrt.dist.spans import EMPTY, Spans
from dlbrt.dist.transfer import Transfer
from dlbrt.dist.units import Units

__all__ = ["Balancer", "Commit"]

#: A rank interrupted with so many units left, or fewer, begins one.
_LAST = 2

#: At a synchronization of all ranks: the strategy to commit to, by the books and the profiles.
Commit = Callable[[Books, Sequence[Profile]], Strategy | PeerStrategy]


class Balancer:
    """The balancer of rank ``rank`` of those that ``shares`` are for.

    ``dealt`` are the shares to begin with. ``groups`` are those of a local strategy, together all ranks,
    which go together by the ``rules``. With
    ``commit``, ``strategy`` holds until the first synchronization only, and is one of all ranks; rank 0 asks
    it then, and where the parameters say so at later synchronizations of all ranks. ``books`` are those of
    all ranks, where the driver makes them. All but ``rank`` and ``now`` must be the same on every rank.
    Raises ValueError for an event that cannot happen in the state it meets.
    """

    def __init__(
        self,
        rank: int,
        shares: Sequence[Spans],
        strategy: Strategy,
        terms: Terms,
        now: float,
        groups: Sequence[Sequence[int]] = (),
        commit: Commit | None = None,
        books: Books | None = None,
        rules: GroupRules | None = None,
    ) -> None:
        self.rank = rank
        self.terms = terms
        self.dealt = tuple(shares)
        self.books = books or Books(range(len(shares)), shares, terms)
        self.center: Center | None = None
        self.rounds: Rounds | None = None
        self._groups = tuple(map(tuple, groups)) or (self.books.members,)
        self._rules = rules or GroupRules()
        self._commit = commit
        self._pace = Pace() if commit else None
        self._own_failure = NO_FAILURE
        self._over = False
        self._byte_s = 0.0
        self._awaits = False  # the strategy that is being chosen
        self._announced: Strategy | PeerStrategy | None = None  # before this rank knew that one would be
        self._profiles: Sequence[Profile] = ()
        self._asked_for = -1  # the epoch of an interrupt that came too early
        self._early: list[Reported] = []  # reports of a window, or to a balancer, that is still to come
        self._words: list[Told | Given] = []  # for the agent that is to take over
        self.successor: Agent | None = None
        self._take(strategy, now)
        self.work = self.books.share(rank)
        self._open_window(now, 0, 0.0)

    def _take(self, strategy: Strategy, began_at: float) -> None:  # noqa: ARG002
        """Balance by this strategy from here on, in its groups; what each holds is as of ``began_at``."""
        self.strategy = strategy
        groups = self._groups if strategy.local else (self.books.members,)
        self._part(groups)

    def _part(self, groups: Groups) -> None:
        """Go on in these groups, by the books of all ranks."""
        books, strategy = self.books, self.strategy
        own = groups[0] if len(groups) == 1 else next(group for group in groups if self.rank in group)
        self._master = own[0] if self._rules.masters else 0
        served = (own,) if self._rules.masters else groups
        central = strategy.central and self._master == self.rank
        self.center = Center([books.of(group) for group in served], strategy) if central else None
        if strategy.local:
            self.books = books.of(own)

    def handle(self, event: Event) -> tuple[Action, ...]:
        """Take in one event; the actions are to be carried out in order."""
        return self._handlers()[type(event)](self, event)

    @classmethod
    @functools.cache
    def _handlers(cls) -> Mapping[type, Callable[[Any, Any], tuple[Action, ...]]]:
        return {
            Worked: cls._worked,
            Exhausted: cls._exhausted,
            Interrupted: cls._interrupted,
            Waited: cls._waited,
            Exchanged: cls._exchanged,
            Instructed: cls._instructed,
            Reported: cls._reported,
            Failed: cls._failed,
            Alarmed: cls._alarmed,
            Asked: cls._asked,
            Committed: cls._committed,
            Told: cls._early_word,
            Given: cls._early_word,
        }

    def transferred(self, seconds: float, size: int) -> None:
        """Learn what moving ``size`` bytes took; it goes into the next profile."""
        if size > 0:
            self._byte_s = seconds / size

    @property
    def units(self) -> Units:
        """As `Agent.units`."""
        return self.terms.units

    @property
    def strategy_name(self) -> str:
        """As `Agent.strategy_name`."""
        return self.strategy.name

    @property
    def apart(self) -> bool:
        """As `Agent.apart`: groups end by themselves."""
        return self.strategy.local

    @property
    def serves(self) -> bool:
        """As `Agent.serves`."""
        return self.center is not None

    @property
    def claims(self) -> bool:
        """As `Agent.claims`: it does not."""
        return False

    @property
    def listens(self) -> bool:
        """As `Agent.listens`: ranks come together."""
        return False

    def account(self) -> Account:
        """What the lowest rank of a group says for it; of rounds each rank has what it saw."""
        past = tuple(self.rounds.past) if self.rounds is not None else ()
        books = self.books
        if books.members[0] != self.rank:
            return Account(windows=past)
        windows = (*past, *books.windows)
        return Account(books.synchronizations, books.redistributions, windows, books.gain)

    @property
    def epoch(self) -> int:
        """The number of the window."""
        return self.books.epoch

    @property
    def failed_at(self) -> int:
        """The lowest position that the group knows to have failed."""
        return self.books.failed_at

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do or to serve here."""
        return self._over and (self.center is None or self.center.finished)

    @property
    def runnable(self) -> Spans:
        """What this rank may work on now: its work, or while profiles travel what it has reserved of it."""
        if self._given_at is not None:
            return self.work.part(0, self._reserved - self._ahead)
        # A failure is told with the next profile; till then counts go on telling what is done only up to it.
        if self._awaits and self._own_failure < self.failed_at:
            return EMPTY
        return self.work.part(0, len(self.work) - self._tail) if self._tail else self.work

    @property
    def waiting(self) -> bool:
        """Whether something is under way without which there is nothing to do but what is runnable."""
        return self._given_at is not None or (self._awaits and not self.runnable)

    @property
    def _given(self) -> bool:
        """Whether the profile of this window has been given, and the answer is under way."""
        return self._given_at is not None

    @property
    def wakes_at(self) -> float | None:
        """When `Waited` will have an effect, if nothing comes before; None: never."""
        if self._over or self._given_at is not None or not self.work:
            return None if self._over else self._interrupt_at
        return self._due_at if self._due_at < math.inf else None

    def due(self, now: float) -> bool:
        """Whether this rank, though it has work, is to give its profile by the clock: at `Waited`."""
        return now >= self._due_at and bool(self.work) and not (self._given or self._over)

    def _open_window(self, now: float, done: int, compute_s: float) -> None:
        self._opened_at, self._due_at = now, now + self._period_s()
        self._done = done
        self._compute_s = compute_s
        self._reserved = self._ahead = self._tail = 0
        self._ahead_s = 0.0
        self._given_at: float | None = None
        self._interrupt_at: float | None = None

    def _period_s(self) -> float:
        """How long the window just opened lasts where nobody interrupts."""
        parameters, habit = self.terms.parameters, self.strategy.clocked
        if habit is Clocked.NEVER or (habit is Clocked.IDLE and self.books.standing.all_busy):
            return math.inf
        return max(parameters.period_s, parameters.interval_factor * self.books.terms.exchange_s)

    def _worked(self, event: Worked) -> tuple[Action, ...]:
        held = len(self.runnable) if self._given_at is None else self._reserved - self._ahead
        if event.units > held:
            raise ValueError(f"rank {self.rank} did {event.units} units and holds {held}")
        if self._pace is not None:
            did, course = self.work.part(0, event.units), (*event.course, (event.units, event.compute_s))
            self._pace.add_course(did, self.terms.amounts, course)
        self.work = self.work.part(event.units)
        if self._given_at is not None:
            self._ahead += event.units
            self._ahead_s += event.compute_s
        else:
            self._done += event.units
            self._compute_s += event.compute_s
        return ()

    def _exhausted(self, event: Exhausted) -> tuple[Action, ...]:
        if self.runnable or self.waiting:
            raise ValueError(f"rank {self.rank} still holds {len(self.work)} units, or waits already")
        if self._tail:
            return self._foresee(event.now)
        books = self.books
        if books.share(self.rank) and self.strategy.interrupts and len(books.members) > 1:
            self._interrupt_at = self._interrupt_time(event.now)
        return (*self._give_profile(event.now), *self._waited(Waited(event.now)))

    def _foresee(self, now: float) -> tuple[Action, ...]:
        """Only the tail is left: if the others will not be done when it is, they hear of it now."""
        end = now + self._tail * self._iteration_s
        self._tail = 0
        if self._interrupt_time(end) > end:
            return (Resume(),)
        return (*self._give_profile(now, len(self.work)), self._interrupt(), Resume())

    def _foreseen(self) -> int:
        """How many units are the tail: what this rank does while the others hear, stop and tell.

        That is as long as an iteration of the slowest, which looks for interrupts only after it, and two
        exchanges. None before anything is known of the others.
        """
        books, speeds = self.books, self.books.history.speeds
        if speeds is None or not self.strategy.foresees or min(len(books.members), len(self.work)) < 2:
            return 0
        own, wait_s = speeds[books.place(self.rank)], books.slowest_s() + 2 * books.terms.exchange_s
        return min(len(self.work) - 1, max(1, round(wait_s * own / books.unit)))

    def _interrupted(self, event: Interrupted) -> tuple[Action, ...]:
        if event.epoch > self.epoch or self._awaits:
            self._asked_for = max(self._asked_for, event.epoch)
            return ()
        if event.epoch != self.epoch or self._given or self._over:
            return ()
        return self._give_profile(event.now, self._reserve())

    def _waited(self, event: Waited) -> tuple[Action, ...]:
        if self.due(event.now):
            # Others may be in the midst of an iteration: this rank begins one rather than wait for them.
            return self._give_profile(event.now, max(1, self._reserve()))
        if self._interrupt_at is None or event.now < self._interrupt_at:
            return ()
        self._interrupt_at = None
        return (self._ask(),)

    def _ask(self) -> Action:
        return self._interrupt()

    @property
    def _regroups(self) -> bool:
        """Whether another group asks for a round of all groups: never here."""
        return False

    def _interrupt(self) -> Interrupt:
        members, place = self.books.members, self.books.place(self.rank)
        return Interrupt(self.epoch, members[:place] + members[place + 1 :])

    def _failed(self, event: Failed) -> tuple[Action, ...]:
        outside = tuple(r for group in self._groups for r in group if r not in self.books.members)
        alarm = (Alarm(event.position, outside),) if outside else ()
        return (*alarm, *self._cut(event.now, event.position))

    def _alarmed(self, event: Alarmed) -> tuple[Action, ...]:
        known = min(self.failed_at, self._own_failure)
        return () if self._over or event.position >= known else self._cut(event.now, event.position)

    def _cut(self, now: float, position: int) -> tuple[Action, ...]:
        """Nothing from ``position`` on is to be done: the group is told at once."""
        self._own_failure = min(self._own_failure, position)
        if self._awaits:
            return ()
        if self._given:
            self._reserved = self._ahead  # the next profile, due at once, will tell
            return ()
        return self._give_failure(now)

    def _give_failure(self, now: float) -> tuple[Action, ...]:
        self.work = self.terms.units.wanted(self.work, self._own_failure)
        return (*self._give_profile(now), self._interrupt())

    def _give_profile(self, now: float, reserved: int = 0) -> tuple[Action, ...]:
        self._given_at, self._reserved = now, reserved
        failed_at = min(self.failed_at, self._own_failure)
        slices = self._pace.slices() if self._pace is not None else UNKNOWN
        window = self._done, self._compute_s, self._byte_s
        profile = Profile(*window, failed_at, reserved, self._regroups, slices)
        if self.strategy.central:
            return (Report(self.epoch, profile, self._master),)
        return (Exchange(self.epoch, profile, self.books.members),)

    def _reserve(self) -> int:
        """Units to work on while the profiles travel: what fits in.

        Others are in the midst of an iteration, of many the slowest for almost all of it; with one other
        rank alone, the answer is there at once. Not more, since a unit begun delays what this rank has to
        give by as long as it takes, and those who wait for it idle. But of the last ones one in any case:
        they are not worth the wait for a message to another, whose speed over so few is a guess. None, if
        all wait for what this rank says for its group at a round.
        """
        terms = self.books.terms
        if self._regroups and self.rank == self.books.members[0]:
            return 0
        rate = self._done / self._compute_s if self._compute_s > 0 else 0.0
        ranks, wait_s = len(self.books.members), terms.parameters.reserve_factor * terms.exchange_s
        if ranks > 2 and self.books.history.speeds is not None:
            wait_s += (1 - 2 / ranks) * self.books.slowest_s(besides=self.rank)
        least = ranks > 2 and len(self.work) <= _LAST
        return min(len(self.work), max(int(least), int(wait_s * rate)))

    def _reported(self, event: Reported) -> tuple[Action, ...]:
        if self.center is not None and self.center.serves(event.rank):
            return self.center.report(event.rank, event.profile)
        if self.rounds is None and self._commit is None:
            raise ValueError(f"rank {self.rank} is no balancer of rank {event.rank}, which reported to it")
        self._early.append(event)
        return ()

    def _take_early(self) -> tuple[Action, ...]:
        """What was reported before this rank knew that it would be."""
        early, self._early = self._early, []
        return tuple(action for event in early for action in self._reported(event))

    def _exchanged(self, event: Exchanged) -> tuple[Action, ...]:
        return self._settled(event.now, event.profiles, self.strategy.decide)

    def _instructed(self, event: Instructed) -> tuple[Action, ...]:
        def decided(situation: Situation) -> Decision | None:  # noqa: ARG001
            return event.decision

        return self._settled(event.now, event.profiles, decided)

    def _settled(
        self,
        now: float,
        profiles: Sequence[Profile],
        decide: Callable[[Situation], Decision | None],
    ) -> tuple[Action, ...]:
        if self._given_at is None:
            raise ValueError(f"an exchange completed to which rank {self.rank} gave nothing")
        books, own, held = self.books, self.books.place(self.rank), self.books.shares
        regroups = self.rounds is not None and any(profile.regroups for profile in profiles)
        transfers = books.settle(profiles, leave if regroups else decide)
        if (met := self._meet(now, held, profiles)) is not None:
            return met
        if books.standing.over:
            self.work, self._over = books.shares[own], True
            return (Finish(),)
        ahead = self._ahead
        if self.failed_at != NO_FAILURE:
            ahead = books.wanted_of_first(held[own].part(profiles[own].done), ahead)
        self.work = books.shares[own].part(ahead)
        self._open_window(now, ahead, self._ahead_s)
        if self._commit is not None:
            return (*self._moves(transfers), *self._await_choice(now, profiles))
        return (*self._moves(transfers), *self._next(now))

    def _meet(
        self,
        now: float,  # noqa: ARG002
        held: Sequence[Spans],  # noqa: ARG002
        profiles: Sequence[Profile],  # noqa: ARG002
    ) -> tuple[Action, ...] | None:
        """What to do if the group, which held so much, now comes to a round of all groups: never here."""
        return None

    def _await_choice(self, now: float, profiles: Sequence[Profile]) -> tuple[Action, ...]:
        self._awaits, self._profiles = True, profiles
        if self.rank == 0:
            return (Choose(),)
        return (Resume(),) if self._announced is None else self._commit_to(now, self._announced)

    def _asked(self, event: Asked) -> tuple[Action, ...]:
        if self._commit is None or not self._awaits:
            raise ValueError(f"rank {self.rank} has no strategy to choose now")
        chosen = self._commit(self.books, self._profiles)
        others = tuple(rank for rank in self.books.members if rank != self.rank)
        return (Announce(chosen.name, others), *self._commit_to(event.now, chosen))

    def _committed(self, event: Committed) -> tuple[Action, ...]:
        chosen = strategy(event.strategy)
        if not self._awaits:  # the exchange has not completed here as it has on rank 0
            self._announced = chosen
            return ()
        return self._commit_to(event.now, chosen)

    def _early_word(self, event: Told | Given) -> tuple[Action, ...]:
        """Others have gone over already to a strategy that this rank has not heard of."""
        self._words.append(event)
        return ()

    def _commit_to(self, now: float, strategy: Strategy | PeerStrategy) -> tuple[Action, ...]:
        """Go on by this strategy; what balances among all ranks may be changed again, if that is wanted."""
        self._awaits, self._announced = False, None
        if isinstance(strategy, PeerStrategy):
            did, failures = (self._done, self._compute_s), (self.failed_at, self._own_failure)
            self.successor = strategy.agent(self.rank, Start(self.books.shares, self.terms), now)
            return take_over(self.successor, now, did, failures, self._words)
        if strategy.name != self.strategy.name:
            self._take(strategy, self._opened_at)
        if strategy.local or not self.terms.parameters.adapts:
            self._commit = self._pace = None
        return (*self._take_early(), *self._next(now))

    def _moves(self, transfers: tuple[Transfer, ...]) -> tuple[Action, ...]:
        return (Move(transfers),) if transfers else ()

    def _next(self, now: float) -> tuple[Action, ...]:
        """What this rank does in the window just opened."""
        if self.failed_at > self._own_failure:
            return self._failed(Failed(now, self._own_failure))
        if not self.work:
            return self._exhausted(Exhausted(now))
        if self._asked_for == self.epoch or self._regroups:
            return self._give_profile(now, self._reserve())
        self._tail = self._foreseen()
        return (Resume(),)

    def _interrupt_time(self, now: float) -> float:
        """When a rank that has run out interrupts the others; where no speeds are known, by its own."""
        window, books, terms = now - self._opened_at, self.books, self.books.terms
        place, standing = books.place(self.rank), books.standing
        due_s = standing.due_s(place)
        if due_s is None:
            done = terms.amounts.of(books.share(self.rank).first(self._done)[0])
            due_s = window * standing.most_held(place) / max(1, done)
        due_at = self._opened_at + due_s
        return time_to_ask(
            now, self._opened_at, due_at, self._iteration_s, terms.exchange_s, terms.parameters
        )

    @property
    def _iteration_s(self) -> float:
        """What a unit has taken in this window."""
        return self._compute_s / max(1, self._done)
