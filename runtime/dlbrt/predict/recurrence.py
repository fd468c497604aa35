"""The total cost of a strategy: the recurrences of Zaki, Li, Parthasarathy simulated to the end.

Section 1.3.2. A group synchronizes when its first rank f has finished, at t_j; rank i has done what fits into
the time at its average effective speed, and has gamma_i(j) iterations left (1.3.1, 1.3.2); what is left is
dealt by speed, chi_i(j) (1.3.3); the group ends, after eta synchronizations, when nothing is left (1.3.4).
Each synchronization costs xi + delta, and kappa + psi if work moves (1.3.5). A central balancer serves local
groups one at a time: the delay Delta_g(j) is the time until it has served the groups that came before. C =
max over the groups.

Departures, all from the paper's own traps. The paper's TC and C_g are overhead only; here the result is the
time itself (`StrategyCost.total_s`), so that local and global strategies compare, with the parts of the
overhead beside (`GroupCost`: C_g is the sum of ``sync_s``, ``decision_s``, ``instructions_s``, ``movement_s``
and ``delay_s``). Iterations are integers. A rank that is left with nothing has left the group, which later
costs one rank less. A rank polls for interrupts between its iterations only, and computes while an interrupt
travels (`ModelOptions.polls`): the synchronization begins when the last rank has polled.

A rank's clock is kept twice: as a time, and as the capacity of its processor up to then. What fits until a
time is a difference of capacities, and when work ends is one inverse; so a window between two
synchronizations costs three of each. This is the inner loop of a choice, which has to be made in
milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from heapq import heappop, heappush

from dlbrt.predict.effective_speed import Processor
from dlbrt.predict.network import Network
from dlbrt.predict.redistribute import ModelOptions, MovementCosts, Redistribution, redistribute
from dlbrt.predict.schemes import Scheme
from dlbrt.predict.work import NOTHING, IterationCosts, Runs
from dlbrt.records import dataclass


@dataclass(slots=True)
class ModelRank:
    """One rank of a group (Zaki et al., 1.3.1, 1.3.2): what it holds, when it is ready, how fast it was.

    ``units`` is the cost of ``held``, ``at_s`` the capacity of the processor up to ``ready_s``, ``end_s``
    when the rank will have done all that it holds.
    """

    work: IterationCosts
    rules: ModelOptions
    processor: Processor
    held: Runs
    ready_s: float
    speed: float
    units: int = 0
    at_s: float = 0.0
    end_s: float = 0.0

    def __post_init__(self) -> None:
        self.units = self.work.units(self.held)
        self.at_s = self.processor.capacity(self.ready_s)
        self.plan()

    def gets(self, held: Runs) -> None:
        """Hold these from now on."""
        if held is not self.held:
            self.held, self.units = held, self.work.units(held)

    def resume(self, when: float) -> None:
        """Go on at ``when``, if the rank is ready by then."""
        if when > self.ready_s:
            self.ready_s, self.at_s = when, self.processor.capacity(when)

    def plan(self) -> float:
        """Set and return when the rank will have done all that it holds."""
        self.end_s = self._finish_s(self.units * self.work.unit_s)
        return self.end_s

    def compute(self, until_s: float) -> tuple[float, float]:
        """Work until the rank polls, at ``until_s`` or later, or has finished; the work and the time."""
        begin_s, stops_s, units, unit_s = self.ready_s, self.end_s, self.units, self.work.unit_s
        if stops_s <= until_s:
            self.held, self.units = NOTHING, 0
            work_s = units * unit_s
        elif until_s <= begin_s:
            return 0.0, 0.0
        else:
            self.held, self.units = self.work.remaining_after(
                self.held, units, (self.processor.capacity(until_s) - self.at_s) / unit_s
            )
            work_s = (units - self.units) * unit_s
            if not self.rules.polls:
                stops_s = until_s
            elif self.held:
                next_poll_s = self._finish_s(work_s)
                stops_s = next_poll_s if next_poll_s > until_s else until_s
        if self.rules.polls:
            self.at_s += work_s
        else:  # an iteration begun counts as done, so work over time is not the speed
            work_s = self.processor.done(begin_s, stops_s)
            self.at_s = self.processor.capacity(stops_s)
        self.ready_s = stops_s
        return work_s, stops_s - begin_s

    def learn(self, work_s: float, seconds: float) -> None:
        """Take in the speed since the last synchronization."""
        if work_s > 0 and seconds > 0:
            self.speed = work_s / seconds

    def _finish_s(self, work_s: float) -> float:
        """When ``work_s`` is done."""
        if not work_s > 0:
            return self.ready_s
        end_s = self.processor.reached(self.at_s + work_s)
        return end_s if end_s > self.ready_s else self.ready_s


@dataclass(slots=True)
class GroupCost:
    """One group's synchronizations (eta), and what each part of them cost in seconds, as they add up.

    ``finish_s`` is when it had nothing left. The overhead C_g is the sum of ``sync_s`` (xi), ``decision_s``
    (delta, and the context switches of a central balancer), ``instructions_s`` (psi), ``movement_s`` (kappa)
    and ``delay_s`` (Delta); ``poll_s`` is the wait for ranks within an iteration besides.
    """

    finish_s: float
    synchronizations: int = 0
    redistributions: int = 0
    moved: int = 0
    messages: int = 0
    sync_s: float = 0.0
    decision_s: float = 0.0
    instructions_s: float = 0.0
    movement_s: float = 0.0
    delay_s: float = 0.0
    poll_s: float = 0.0


@dataclass(frozen=True, slots=True)
class StrategyCost:
    """How a strategy ends: the last group's finish, and the groups."""

    groups: tuple[GroupCost, ...]

    @property
    def total_s(self) -> float:
        """When the last group has finished, computing included."""
        return max(group.finish_s for group in self.groups)


@dataclass(frozen=True, slots=True)
class Scenario:
    """What all strategies have in common.

    ``processors[r]`` is rank r's; ``networks[g]`` is among the ranks of group g, or a single one is among
    all; ``iteration_bytes`` move with an iteration (in a folded loop with a pair).
    """

    work: IterationCosts
    processors: tuple[Processor, ...]
    networks: tuple[Network, ...]
    iteration_bytes: float = 0.0
    rules: ModelOptions = field(default_factory=ModelOptions)

    def network(self, group: int) -> Network:
        """The network of a group."""
        return self.networks[group if len(self.networks) > 1 else 0]


def evaluate_static(game: Scenario, held: Sequence[Runs], start_s: float = 0.0) -> StrategyCost:
    """Without balancing: each rank works off what it holds."""
    finish_s = [
        processor.finish(start_s, game.work.units(runs) * game.work.unit_s)
        for processor, runs in zip(game.processors, held, strict=True)
    ]
    return StrategyCost((GroupCost(max(finish_s)),))


def evaluate(
    game: Scenario,
    scheme: Scheme,
    held: Sequence[Runs],
    groups: Sequence[Sequence[int]],
    start_s: float = 0.0,
    speeds: Sequence[float] | None = None,
) -> StrategyCost:
    """The strategy from ``start_s`` on, where rank r holds ``held[r]`` and each group balances for itself.

    With ``speeds`` (base work a second, above 0) the simulation begins within a synchronization, at the
    decision: the profiles have come. A central balancer serves groups by time of arrival, then by number.
    """
    players = [
        _Group.of(game, scheme, number, held, ranks, start_s, speeds) for number, ranks in enumerate(groups)
    ]
    arrivals: list[tuple[float, int]] = []
    for number, group in enumerate(players):
        if group.members:
            heappush(arrivals, (group.synchronize() if speeds is None else start_s, number))
    free_s = start_s
    while arrivals:
        arrives_s, number = heappop(arrivals)
        group = players[number]
        free_s = group.settle(arrives_s, max(arrives_s, free_s) if scheme.central else arrives_s)
        if group.members:
            heappush(arrivals, (group.synchronize(), number))
    return StrategyCost(tuple(group.cost for group in players))


@dataclass(slots=True)
class _Group:
    """The members of one group that hold work, from one synchronization to the next, and its cost so far."""

    game: Scenario
    scheme: Scheme
    network: Network
    members: list[ModelRank]
    cost: GroupCost

    @classmethod
    def of(
        cls,
        game: Scenario,
        scheme: Scheme,
        number: int,
        held: Sequence[Runs],
        ranks: Sequence[int],
        start_s: float,
        speeds: Sequence[float] | None,
    ) -> _Group:
        """With ``speeds`` all ranks take part in the decision that comes first, even those without work."""
        members = []
        for rank in ranks:
            if held[rank] or speeds is not None:
                processor, runs = game.processors[rank], game.work.joined(held[rank])
                speed = processor.speed if speeds is None else speeds[rank]
                members.append(ModelRank(game.work, game.rules, processor, runs, start_s, speed))
        return cls(game, scheme, game.network(number), members, GroupCost(start_s))

    def synchronize(self) -> float:
        """Compute until the first rank has finished and all have polled; when the profiles have come."""
        polls, ranks = self.game.rules.polls, len(self.members)
        first_s = min([each.plan() for each in self.members])
        seen_s = first_s + (self.scheme.interrupt_s(self.network, ranks) if polls else 0.0)
        for each in self.members:
            each.learn(*each.compute(seen_s))
        poll_s = max(0.0, self._stopped_s() - seen_s) if polls else 0.0
        sync_s = self.scheme.synchronization_s(self.network, ranks)
        self.cost.synchronizations += ranks > 1
        self.cost.sync_s += sync_s
        self.cost.poll_s += poll_s
        return first_s + sync_s + poll_s

    def settle(self, arrived_s: float, begin_s: float) -> float:
        """Decide from ``begin_s`` on and move work; when the balancer is free for another group."""
        decision_s = self._decision_s()
        if self.game.rules.reserves:  # what is done meanwhile is not in the profiles
            for each in self.members:
                if each.held:
                    each.compute(begin_s + decision_s)
        stopped_s = self._stopped_s()
        found = self._redistribute()
        alpha, beta = (found.moved, found.messages) if found else (0, 0)
        instructions_s = self.scheme.instructions_s(self.network, beta)
        parallel = self.game.rules.parallel
        most, messages = found.busiest if found and parallel else (alpha, beta)
        movement_s = self.scheme.movement_s(self.network, messages, most * self.game.iteration_bytes)
        free_s = begin_s + decision_s + instructions_s
        for each, runs in zip(self.members, found.held if found else (), strict=bool(found)):
            each.resume(free_s if parallel and each.held == runs else free_s + movement_s)
            each.gets(runs)
        self.members = [each for each in self.members if each.held]
        for each in self.members:
            each.resume(free_s)
        cost = self.cost
        cost.finish_s = max(free_s + movement_s, stopped_s)
        cost.redistributions += alpha > 0
        cost.moved += alpha
        cost.messages += beta
        cost.decision_s += decision_s
        cost.instructions_s += instructions_s
        cost.movement_s += movement_s
        cost.delay_s += begin_s - arrived_s
        return free_s

    def _stopped_s(self) -> float:
        """When the last rank has stopped."""
        return max([each.ready_s for each in self.members])

    def _decision_s(self) -> float:
        """delta, where there is something to decide; a central balancer's host also switches context."""
        if len(self.members) < 2:
            return 0.0
        return self.game.rules.decision_s + (self.network.switch_s if self.scheme.central else 0.0)

    def _redistribute(self) -> Redistribution | None:
        """How what is left is dealt anew, if that pays."""
        held = [each.held for each in self.members]
        if len(held) < 2 or not any(held):
            return None
        game, network = self.game, self.network
        exchange_s = self.scheme.synchronization_s(network, len(held)) + self._decision_s()
        message_s = network.latency_s * (2 if self.scheme.central else 1)
        charges = MovementCosts(exchange_s, message_s, game.iteration_bytes / network.bandwidth)
        speeds, units = [each.speed for each in self.members], [each.units for each in self.members]
        return redistribute(game.work, held, speeds, game.rules, charges, units)
