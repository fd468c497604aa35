"""The total cost of a strategy: the recurrences of Zaki, Li, Parthasarathy played to the end.

Section 1.3.2. A group synchronizes when its first rank f has finished, at t_j; rank i has done what fits
into the time at its average effective speed, and has gamma_i(j) iterations left (1.3.1, 1.3.2); what is left
is dealt by speed, chi_i(j) (1.3.3); the group ends, after eta synchronizations, when nothing is left (1.3.4).
Each costs xi + delta, and kappa + psi if work moves (1.3.5). A central balancer serves local groups one at a
time: the delay Delta_g(j) is the time until it has served those that came before. C = max over the groups.

Departures, all from the paper's own traps. The paper's TC and C_g are overhead only; here is the time
itself (`Outcome.total_s`), so that local and global compare, with the overhead beside (`GroupCost`).
Iterations are integers. A rank that is left with nothing has left the group, which later costs one less. A
rank looks for interrupts between its iterations only, and computes while one travels (`Rules.polls`): the
synchronization begins when the last one has looked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from dlbrt.core.model.network import Network
from dlbrt.core.model.redistribute import Charges, Redistribution, Rules, redistribute
from dlbrt.core.model.schemes import Scheme
from dlbrt.core.model.speed import Processor
from dlbrt.core.model.work import NOTHING, Runs, Work

__all__ = ["Game", "GroupCost", "Outcome", "play", "play_static"]


@dataclass(frozen=True, slots=True)
class GroupCost:
    """One group's synchronizations (eta), and what each part of them cost in seconds.

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

    @property
    def overhead_s(self) -> float:
        """C_g; TC for the one group of a global strategy."""
        return self.sync_s + self.decision_s + self.instructions_s + self.movement_s + self.delay_s


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a strategy ends: the last group's finish, and the groups."""

    groups: tuple[GroupCost, ...]

    @property
    def total_s(self) -> float:
        """When the last group has finished, computing included."""
        return max(group.finish_s for group in self.groups)

    @property
    def overhead_s(self) -> float:
        """TC, or C = max over the groups of C_g."""
        return max(group.overhead_s for group in self.groups)


@dataclass(frozen=True, slots=True)
class Game:
    """What all strategies have in common.

    ``processors[r]`` is rank r's; ``networks[g]`` is among the ranks of group g (one for all: a single one);
    ``iteration_bytes`` moves with an iteration (of a folded loop: with a pair).
    """

    work: Work
    processors: tuple[Processor, ...]
    networks: tuple[Network, ...]
    iteration_bytes: float = 0.0
    rules: Rules = field(default_factory=Rules)

    def network(self, group: int) -> Network:
        """The network of a group."""
        return self.networks[group if len(self.networks) > 1 else 0]


def play_static(game: Game, held: Sequence[Runs], start_s: float = 0.0) -> Outcome:
    """Without balancing: each rank works off what it holds."""
    finish_s = [
        processor.finish(start_s, game.work.units(runs) * game.work.unit_s, game.rules.averaging)
        for processor, runs in zip(game.processors, held, strict=True)
    ]
    return Outcome((GroupCost(max(finish_s)),))


def play(
    game: Game,
    scheme: Scheme,
    held: Sequence[Runs],
    groups: Sequence[Sequence[int]],
    start_s: float = 0.0,
    speeds: Sequence[float] | None = None,
) -> Outcome:
    """The strategy from ``start_s`` on, where rank r holds ``held[r]`` and ``groups`` balance apart.

    With ``speeds`` (base work a second, above 0) the play begins amid a synchronization, at the decision: the
    profiles have come. A central balancer serves in order of arrival, groups in order where equal.
    """
    players = [_Group(game, scheme, number, held, ranks, start_s) for number, ranks in enumerate(groups)]
    arrivals: list[tuple[float, int]] = []
    for number, group in enumerate(players):
        if speeds is not None:
            heappush(arrivals, (group.enter(speeds), number))
        elif group.held:
            heappush(arrivals, (group.synchronize(), number))
    free_s = start_s
    while arrivals:
        arrives_s, number = heappop(arrivals)
        group = players[number]
        free_s = group.settle(arrives_s, max(arrives_s, free_s) if scheme.central else arrives_s)
        if group.held:
            heappush(arrivals, (group.synchronize(), number))
    return Outcome(tuple(group.cost for group in players))


class _Group:
    """The ranks of one group that hold work, from one synchronization to the next, and its cost so far."""

    def __init__(
        self,
        game: Game,
        scheme: Scheme,
        number: int,
        held: Sequence[Runs],
        ranks: Sequence[int],
        start_s: float,
    ) -> None:
        self.game, self.scheme, self.network = game, scheme, game.network(number)
        self.held = {rank: game.work.joined(held[rank]) for rank in ranks if held[rank]}
        self.cost = GroupCost(start_s)
        self._ready_s = dict.fromkeys(self.held, start_s)
        self._speeds = {rank: game.processors[rank].speed for rank in ranks}
        self._history = dict.fromkeys(ranks, (0.0, 0.0))
        self._end_s: dict[int, float] = {}
        self._eta, self._sync_s, self._poll_s = 0, 0.0, 0.0

    def enter(self, speeds: Sequence[float]) -> float:
        """Begin at a decision, with these speeds; all ranks of the group take part, empty ones too."""
        ranks = list(self._speeds)
        self.held = {rank: self.held.get(rank, ()) for rank in ranks}
        self._ready_s = dict.fromkeys(ranks, self.cost.finish_s)
        self._speeds = {rank: speeds[rank] for rank in ranks}
        self._end_s = {
            rank: self._finish_s(rank, self.game.work.units(runs) * self.game.work.unit_s)
            for rank, runs in self.held.items()
        }
        return self.cost.finish_s

    def synchronize(self) -> float:
        """Compute until the first rank has finished and all have looked; when the profiles have come."""
        rules, ranks, unit_s = self.game.rules, len(self.held), self.game.work.unit_s
        work_s = {rank: self.game.work.units(runs) * unit_s for rank, runs in self.held.items()}
        self._end_s = {rank: self._finish_s(rank, seconds) for rank, seconds in work_s.items()}
        first_s = min(self._end_s.values())
        seen_s = first_s + (self.scheme.interrupt_s(self.network, ranks) if rules.polls else 0.0)
        for rank, seconds in work_s.items():
            self._learn(rank, *self._compute(rank, seen_s, seconds))
        self._poll_s = max(0.0, max(self._ready_s.values()) - seen_s) if rules.polls else 0.0
        self._sync_s = self.scheme.synchronization_s(self.network, ranks)
        self._eta = int(ranks > 1)
        return first_s + self._sync_s + self._poll_s

    def settle(self, arrived_s: float, begin_s: float) -> float:
        """Decide from ``begin_s`` on and move work; when the balancer is free for another group."""
        decision_s = self._decision_s()
        if self.game.rules.reserves:
            self._work_on(begin_s + decision_s)
        stopped_s = max(self._ready_s.values())
        moved = self._redistributed()
        alpha, beta = (moved.moved, moved.messages) if moved else (0, 0)
        instructions_s = self.scheme.instructions_s(self.network, beta)
        movement_s = self.scheme.movement_s(self.network, beta, alpha * self.game.iteration_bytes)
        free_s = begin_s + decision_s + instructions_s
        self._resume(moved, free_s + movement_s)
        self.cost = GroupCost(
            finish_s=max(free_s + movement_s, stopped_s),
            synchronizations=self.cost.synchronizations + self._eta,
            redistributions=self.cost.redistributions + bool(moved),
            moved=self.cost.moved + alpha,
            messages=self.cost.messages + beta,
            sync_s=self.cost.sync_s + self._sync_s,
            decision_s=self.cost.decision_s + decision_s,
            instructions_s=self.cost.instructions_s + instructions_s,
            movement_s=self.cost.movement_s + movement_s,
            delay_s=self.cost.delay_s + begin_s - arrived_s,
            poll_s=self.cost.poll_s + self._poll_s,
        )
        return free_s

    def _resume(self, moved: Redistribution | None, resumes_s: float) -> None:
        """Go on with what each holds now; who holds nothing has left."""
        if moved:
            self.held = dict(zip(self.held, moved.held, strict=True))
        self.held = {rank: runs for rank, runs in self.held.items() if runs}
        self._ready_s = {rank: max(resumes_s, self._ready_s[rank]) for rank in self.held}

    def _finish_s(self, rank: int, work_s: float) -> float:
        return self.game.processors[rank].finish(self._ready_s[rank], work_s, self.game.rules.averaging)

    def _work_on(self, until_s: float) -> None:
        """Ranks compute while the profiles travel and the decision is made; it is not in their profiles."""
        for rank, runs in self.held.items():
            if runs:
                self._compute(rank, until_s, self.game.work.units(runs) * self.game.work.unit_s)

    def _compute(self, rank: int, until_s: float, work_s: float) -> tuple[float, float]:
        """Let a rank with so much left work until it looks, at ``until_s`` or later, or has finished.

        Gives what it did, and in what time.
        """
        game, begin_s, runs, end_s = self.game, self._ready_s[rank], self.held[rank], self._end_s[rank]
        if until_s <= begin_s and end_s > until_s:
            return 0.0, 0.0
        left, stopped_s = NOTHING, end_s
        unit_s, averaging, processor = game.work.unit_s, game.rules.averaging, game.processors[rank]
        if end_s > until_s:
            left = game.work.left_after(runs, processor.done(begin_s, until_s, averaging) / unit_s)
            if left:
                work_s -= game.work.units(left) * unit_s
                end_s = processor.finish(begin_s, work_s, averaging) if game.rules.polls else until_s
            stopped_s = max(until_s, end_s) if game.rules.polls else until_s
        self.held[rank], self._ready_s[rank] = left, stopped_s
        if not game.rules.polls:  # an iteration begun counts as done, so work over time is not the speed
            work_s = processor.average(begin_s, stopped_s, averaging) * (stopped_s - begin_s)
        return work_s, stopped_s - begin_s

    def _learn(self, rank: int, work_s: float, seconds: float) -> None:
        """The rank's speed since the last synchronization, or since the beginning."""
        if self.game.rules.all_history:
            before_s, before = self._history[rank]
            work_s, seconds = work_s + before_s, seconds + before
            self._history[rank] = work_s, seconds
        if work_s > 0 and seconds > 0:
            self._speeds[rank] = work_s / seconds

    def _decision_s(self) -> float:
        """delta, where there is something to decide; a central balancer's host also changes context."""
        if len(self.held) < 2:
            return 0.0
        return self.game.rules.decision_s + (self.network.switch_s if self.scheme.central else 0.0)

    def _redistributed(self) -> Redistribution | None:
        if len(self.held) < 2 or not any(self.held.values()):
            return None
        game, network = self.game, self.network
        exchange_s = self.scheme.synchronization_s(network, len(self.held)) + self._decision_s()
        message_s = network.latency_s * (2 if self.scheme.central else 1)
        charges = Charges(exchange_s, message_s, game.iteration_bytes / network.bandwidth)
        speeds = [self._speeds[rank] for rank in self.held]
        return redistribute(game.work, list(self.held.values()), speeds, game.rules, charges)
