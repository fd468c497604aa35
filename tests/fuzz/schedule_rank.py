"""A rank of a play: `dlbrt.mpi.driver` and `dlbrt.mpi.walk` step by step, as agents see them.

It is a generator: what a rank polls between chunks, in which order, and what it waits for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dlbrt.balance import actions, events
from dlbrt.balance.agent import Agent, BalancingCounts
from dlbrt.data.spans import Spans

from tests.fuzz.schedule_network import (
    COMING,
    DATA,
    GROUP_REPORT,
    INSTRUCTIONS,
    MESSAGE,
    NOTICE,
    PROFILE,
    REPORT,
    TIMER,
    Envelope,
    Pending,
    Steps,
    Violation,
    Wait,
    mask,
)

if TYPE_CHECKING:
    from tests.fuzz.schedule_play import Play


class Rank:
    """One rank: `dlbrt.mpi.driver.AgentDriver` and `dlbrt.mpi.walk.Walk`, as far as agents see them."""

    def __init__(self, world: Play, rank: int, make: Callable[[int, float], Agent]) -> None:
        self.world, self.rank = world, rank
        self.agent: Agent
        self.version, self.waits = 0, False
        self.past_counts = BalancingCounts()
        self.interrupted_at = float("inf")
        self.raised: list[int] = []
        self._make = make
        self._actions: deque[actions.Action] = deque()
        self._pending: Pending | None = None
        self._given: list[Envelope] = []
        self._exchanges = 0
        self._drops = False
        self._served = False  # within the chunk under way
        self._put_aside: deque[tuple[int, Any]] = deque()
        self._slow = world.random.uniform(1.0, world.draws.uneven)
        self._pause_s = world.draws.pause_s if world.random.random() < world.draws.frozen else 0.0

    # The life of a rank: its kernel.

    def life(self) -> Steps:
        """All of it, from when it begins the loop."""
        self.agent = self._make(self.rank, self.world.now)
        self.world.check(self.rank, self.agent)
        while not self.agent.finished:
            if self.agent.runnable:
                yield from self._compute()
            yield from self._synchronize()
        self.world.log(self.rank, "has ended")
        self.world.check_end_of(self.rank, self.agent)
        if self._pending is not None:
            raise Violation(f"rank {self.rank} has ended and waits for a reply")
        while not all(envelope.taken for envelope in self._given):
            yield COMING

    def _compute(self) -> Steps:
        """A stretch of units, in chunks, until the stretch or this rank's turn ends."""
        world, units = self.world, self.world.units
        stretch, done, seconds = self.agent.runnable.runs[0], 0, 0.0
        progress: list[tuple[int, float]] = []
        while done < len(stretch):
            if self._interrupt_is_pending():
                self._report(stretch[:done], seconds, progress)
                self._fail(0)
                return
            size = world.random.choice((1, 1, 2, 3, len(stretch)))
            chunk = stretch[done : done + size]
            positions = [p for run in units.stretches(chunk) for p in run if p < self.agent.failed_at]
            failed = next((place for place, p in enumerate(positions) if p in world.fails_at), None)
            reached = positions if failed is None else positions[: failed + 1]
            took_s = sum(map(world.cost_s, reached)) * self._slow
            took_s, self._pause_s = world.network.rounded(took_s + self._pause_s), 0.0
            yield from self._pass(took_s, 0 if units.folded else done + len(chunk))
            seconds += took_s
            completed = positions if failed is None else positions[:failed]
            world.played.done[self.rank] += completed
            if failed is not None:
                done += len(chunk) if units.folded else failed
                self._report(stretch[:done], seconds, progress)
                world.played.raised.append(positions[failed])
                self.raised.append(positions[failed])
                self._fail(positions[failed])
                return
            done += len(chunk)
            progress.append((done, seconds))
            if units.folded:
                self._report(stretch[:done], seconds, ())
                stretch, done, seconds = stretch[done:], 0, 0.0
            if self._served or self._interrupted():
                break
        self._report(stretch[:done], seconds, progress[:-1])

    def _pass(self, took_s: float, units: int) -> Steps:
        """A chunk takes this time; within it messages may be taken, as `dlbrt.mpi.serving` does."""
        world = self.world
        if not (units and self.agent.serves and world.random.random() < 0.5):
            yield took_s
            return
        before_s = world.network.rounded(took_s * world.random.random())
        yield before_s
        if not self._put_aside and self._come(MESSAGE):
            self._served = True
            self._handle(events.UnderWay(world.now, units, before_s))
            while (found := self._take(MESSAGE)) is not None:
                if self._put_aside or type(found[1]) not in self.agent.serves:
                    self._put_aside.append(found)
                else:
                    yield from self._take_message(*found)
            if self.agent.due(world.now):
                self._handle(events.TimeElapsed(world.now))
            while self._actions:
                yield from self._carry_out(self._actions.popleft())
        yield max(0.0, took_s - before_s)

    def _report(self, done: range, seconds: float, progress: Sequence[tuple[int, float]]) -> None:
        if done:
            self.world.done[self.rank] |= mask(Spans.of(done))
            self._handle(events.Worked(self.world.now, len(done), seconds, tuple(progress)))

    def _fail(self, position: int) -> None:
        self._drops = self._drops or position == 0
        self._handle(events.Failed(self.world.now, position))

    def _interrupt_is_pending(self) -> bool:
        """Whether the user has interrupted the rank, which then does no more."""
        if self._drops or self.world.now < self.interrupted_at:
            return False
        self.world.played.interrupted = True
        return True

    # The driver.

    def _interrupted(self) -> bool:
        """Whether something has come that `_synchronize` must handle."""
        world, agent = self.world, self.agent
        if agent.is_central and self._come(REPORT):
            return True
        if self._pending is not None:
            return self._pending.complete()
        if agent.receives_messages and self._come(MESSAGE):
            return True
        return self._come(NOTICE) or agent.due(world.now)

    def _synchronize(self) -> Steps:
        self._served = False
        yield from self._poll_messages()
        if self.agent.due(self.world.now):
            self._handle(events.TimeElapsed(self.world.now))
        if self._may_go_on():
            return
        if not (self.agent.runnable or self.agent.waiting or self._actions):
            self._handle(events.Exhausted(self.world.now))
        while not self._may_go_on():
            if self._actions:
                action = self._actions.popleft()
                yield from self._carry_out(action)
            elif not (yield from self._poll()):
                yield self.world.late_s() if self._has_something() else TIMER

    def _carry_out(self, action: actions.Action) -> Steps:
        steps: Steps = _METHODS[type(action)](self, action)  # type: ignore[func-returns-value]
        return steps

    def _may_go_on(self) -> bool:
        if self._actions:
            return False
        answered = self._pending is not None and self._pending.complete()
        return self.agent.finished or (bool(self.agent.runnable) and not answered)

    def _poll(self) -> Generator[Wait, None, bool]:
        if self._interrupt_is_pending():
            self._fail(0)
        if (answer := self._pending) is not None and answer.complete():
            self._pending = None
            assert answer.found is not None
            self._handle(answer.found(self.world.now))
        else:
            yield from self._poll_messages()
            self._handle(events.TimeElapsed(self.world.now))
            agent = self.agent
            if not (agent.runnable or self._actions or agent.waiting or agent.finished):
                self._handle(events.Exhausted(self.world.now))
        return bool(self._actions) or self.agent.finished

    def _poll_messages(self) -> Steps:
        world = self.world
        if (notice := self._take(NOTICE)) is not None:
            self._handle(notice[1](world.now))
        if self.agent.is_central and (found := self._take(REPORT)) is not None:
            source, (epoch, profile) = found
            self._check_epoch(source, epoch)
            self._handle(events.ProfileReceived(world.now, source, profile))
        while self.agent.receives_messages and (found := self._next_message()) is not None:
            yield from self._take_message(*found)

    def _next_message(self) -> tuple[int, Any] | None:
        return self._put_aside.popleft() if self._put_aside else self._take(MESSAGE)

    def _take_message(self, source: int, content: Any) -> Steps:
        if isinstance(content, Spans):
            yield from self._receive(content, source)
            self._handle(events.WorkReceived(self.world.now, source, content))
        else:
            self._handle(events.Received(self.world.now, source, content))

    def _check_epoch(self, member: int, epoch: int) -> None:
        """A central balancer takes a profile for the window that its member meant."""
        center = getattr(self.agent, "center", None)
        if center is not None and center.awaits(member):
            expected = center._group_states[member].epoch
            if epoch != expected:
                raise Violation(f"rank {member} reports window {epoch}, and {expected} is open")

    def _has_something(self) -> bool:
        """Whether another poll finds something: one poll takes one notification and one profile."""
        return self._come(NOTICE) or (self.agent.is_central and self._come(REPORT))

    def _come(self, tag: str) -> bool:
        return bool(self.world.network.sources(self.world.now, self.rank, tag))

    def _take(self, tag: str, source: int | None = None) -> tuple[int, Any] | None:
        found = self.world.network.take(self.world.now, self.rank, tag, source)
        if found is None:
            return None
        if self.world.rendezvous and tag == DATA:
            self.world._wake_at(self.world.now, found[0])
        return found[0], found[1].content

    def _post(self, target: int, tag: str, content: Any) -> Envelope:
        return self.world.network.post(self.world.now, self.rank, target, tag, content)

    def _handle(self, event: events.Event) -> None:
        answer = self.agent.handle(event)
        self.world.played.events += 1
        if answer or not isinstance(event, events.TimeElapsed):
            self.world.log(self.rank, f"{event} -> {answer}")
        self._actions += answer
        if (successor := self.agent.successor) is not None:
            self.past_counts, self.agent = self.past_counts + self.agent.counts(), successor
        self._check_given(answer)
        if not any(isinstance(action, actions.Move) for action in self._actions):
            self.world.check(self.rank, self.agent)

    def _check_given(self, answer: actions.Answer) -> None:
        for action in answer:
            if isinstance(action, actions.SendWork):
                self.world.give(self.rank, action.units)

    # Actions.

    def _do_notify(self, members: Iterable[int], event: Callable[[float], events.Event]) -> Steps:
        for member in members:
            self._post(member, NOTICE, event)
        yield from ()

    def _do_interrupt(self, action: actions.Interrupt) -> Steps:
        return self._do_notify(action.members, lambda now: events.Interrupted(now, action.epoch))

    def _do_notify_failure(self, action: actions.NotifyFailure) -> Steps:
        return self._do_notify(action.members, lambda now: events.FailureNotified(now, action.position))

    def _do_request_group_exchange(self, action: actions.RequestGroupExchange) -> Steps:
        return self._do_notify(action.members, lambda now: events.GroupExchangeRequested(now, action.round))

    def _do_announce_strategy(self, action: actions.AnnounceStrategy) -> Steps:
        return self._do_notify(action.members, lambda now: events.StrategyAnnounced(now, action.strategy))

    def _do_exchange_profiles(self, action: actions.ExchangeProfiles) -> Steps:
        assert self._pending is None
        if len(action.members) == len(self.world.ranks):
            self._pending = self._exchange_among_all(action)
        else:
            self._pending = self._exchange_in_group(action)
        yield from ()

    def _exchange_among_all(self, action: actions.ExchangeProfiles) -> Pending:
        """The n-th exchange of this rank is the n-th of every rank; it completes when all have come."""
        world, number = self.world, self._exchanges
        self._exchanges += 1
        if number == len(world.exchanges):
            world.exchanges.append({})
        given = world.exchanges[number]
        given[self.rank] = action.epoch, action.profile, world.now
        world.network.sent[PROFILE] += 1
        if len({epoch for epoch, _, _ in given.values()}) > 1:
            raise Violation(f"exchange {number} is of windows {given}")
        if len(given) == len(world.ranks):
            for rank in range(len(world.ranks)):
                world._wake_at(world.now, rank)
        late_s = world.network.latency_s(self.rank, self.rank)
        woken = False

        def poll() -> Callable[[float], events.Event] | None:
            nonlocal woken
            if len(given) < len(world.ranks):
                return None
            arrives_s = max(when for _, _, when in given.values()) + late_s
            if arrives_s > world.now:
                if not woken:
                    world._wake_at(arrives_s, self.rank)
                    woken = True
                return None
            profiles = tuple(given[rank][1] for rank in range(len(given)))
            return lambda now: events.ProfilesExchanged(now, profiles)

        return Pending(poll)

    def _exchange_in_group(self, action: actions.ExchangeProfiles) -> Pending:
        found = {self.rank: action.profile}
        for member in action.members:
            if member != self.rank:
                self._post(member, PROFILE, (action.epoch, action.profile))

        def poll() -> Callable[[float], events.Event] | None:
            for member in action.members:
                if member not in found and (message := self._take(PROFILE, member)):
                    epoch, found[member] = message[1]
                    if epoch != action.epoch:
                        raise Violation(
                            f"rank {self.rank} in window {action.epoch} takes a profile of {epoch}"
                        )
            if len(found) < len(action.members):
                return None
            profiles = tuple(found[member] for member in action.members)
            return lambda now: events.ProfilesExchanged(now, profiles)

        return Pending(poll)

    def _do_send_profile(self, action: actions.SendProfile) -> Steps:
        if self.rank == action.master:
            self._check_epoch(self.rank, action.epoch)
            self._handle(events.ProfileReceived(self.world.now, self.rank, action.profile))
            return
        assert self._pending is None
        self._post(action.master, REPORT, (action.epoch, action.profile))

        def poll() -> Callable[[float], events.Event] | None:
            if (message := self._take(INSTRUCTIONS, action.master)) is None:
                return None
            return lambda now: events.InstructionsReceived(now, *message[1])

        self._pending = Pending(poll)
        yield from ()

    def _do_send_instructions(self, action: actions.SendInstructions) -> Steps:
        for member in action.members:
            if member != self.rank:
                self._post(member, INSTRUCTIONS, (action.profiles, action.decision))
        if self.rank in action.members:
            self._handle(events.InstructionsReceived(self.world.now, action.profiles, action.decision))
        yield from ()

    def _do_send_group_report(self, action: actions.SendGroupReport) -> Steps:
        assert self._pending is None
        found: dict[int, Any] = {}
        if action.report is not None:
            found[self.rank] = action.report
            for rank in range(len(self.world.ranks)):
                if rank != self.rank:
                    self._post(rank, GROUP_REPORT, (action.round, action.report))

        def poll() -> Callable[[float], events.Event] | None:
            for leader in action.leaders:
                if leader not in found and (message := self._take(GROUP_REPORT, leader)):
                    number, found[leader] = message[1]
                    if number != action.round:
                        raise Violation(
                            f"rank {self.rank} in round {action.round} takes a report of {number}"
                        )
            if len(found) < len(action.leaders):
                return None
            reports = tuple(found[leader] for leader in action.leaders)
            return lambda now: events.GroupReportsReceived(now, reports)

        self._pending = Pending(poll)
        yield from ()

    def _do_request_choice(self, action: actions.RequestChoice) -> Steps:
        yield self.world.network.latency_s(0, 0)
        self._handle(events.ChoiceRequested(self.world.now))

    def _do_move(self, action: actions.Move) -> Steps:
        """Take part in a movement: all senders and receivers know it, and wait until it has arrived."""
        world, began_s, size, sent = self.world, self.world.now, 0, []
        for transfer in action.transfers:
            if transfer.source == self.rank:
                world.give(self.rank, transfer.spans)
                if world.has_rows(transfer.target):
                    size += 8 * len(transfer.spans)
                    sent.append(self._post(transfer.target, DATA, transfer.spans))
                else:
                    world.agree(0, self.rank, transfer.target, transfer.spans)
        for transfer in action.transfers:
            if transfer.target == self.rank:
                if not world.has_rows(self.rank):
                    world.agree(1, transfer.source, self.rank, transfer.spans)
                yield from self._receive(transfer.spans, transfer.source)
        while world.rendezvous and not all(envelope.taken for envelope in sent):
            yield COMING
        self.agent.transferred(world.now - began_s, size)
        world.check(self.rank, self.agent)

    def _receive(self, units: Spans, source: int) -> Steps:
        """Units of that rank are this rank's once their rows have come, if they have any."""
        if self.world.has_rows(self.rank):
            while (found := self._take(DATA, source)) is None:
                yield COMING
            if found[1] != units:
                raise Violation(f"rank {self.rank} expects {units} of rank {source}, which sends {found[1]}")
        self.world.owned[self.rank] |= mask(units)

    def _do_send(self, action: actions.Send) -> Steps:
        for target in action.targets:
            self._post(target, MESSAGE, action.message)
        yield from ()

    def _do_send_work(self, action: actions.SendWork) -> Steps:
        self._post(action.target, MESSAGE, action.units)
        if self.world.has_rows(action.target):
            envelope = self._post(action.target, DATA, action.units)
            self._given += [envelope] if self.world.rendezvous else []
        yield from ()

    def _do_claim_chunks(self, action: actions.ClaimChunks) -> Steps:
        """The claim reaches the counter at some time, and the answer comes later."""
        assert self._pending is None
        world = self.world
        reaches_s = world.now + world.network.latency_s(self.rank, 0)
        answered: list[tuple[int, float]] = []
        world.network.sent["claim"] += 1
        world._wake_at(reaches_s, self.rank)

        def poll() -> Callable[[float], events.Event] | None:
            if not answered and world.now >= reaches_s:
                answered.append((world.counter, world.now + world.network.latency_s(0, self.rank)))
                world.counter += action.count
                world._wake_at(answered[0][1], self.rank)
            if not answered or world.now < answered[0][1]:
                return None
            return lambda now: events.ChunksClaimed(now, answered[0][0], action.count)

        self._pending = Pending(poll)
        yield from ()

    def _do_resume(self, action: actions.Resume) -> Steps:
        yield from ()

    def _do_finish(self, action: actions.Finish) -> Steps:
        yield from ()


_METHODS = actions.methods_of(Rank)
