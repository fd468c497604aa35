"""The four strategies in virtual time, under discrete random load: what predictions are held against.

A queue of events; nothing is random but the load, and nothing waits. What happens follows the protocol of
Zaki, Li, Parthasarathy, section 1.2: the rank that finishes first interrupts its group; the others look for
interrupts between iterations, stop, and give their profiles; a central balancer serves one group at a time,
and its host's own computing loses the context switch meanwhile. Times under load are integrated by the
runtime's emulation (`dlbrt.emulation`), not by the model. The decisions are those of the core.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from dlbrt.emulation import Load, LoadSpec, RandomLoad
from dlbrt.predict.effective_speed import LoadForecast, Processor
from dlbrt.predict.network import Network
from dlbrt.predict.redistribute import ModelOptions, MovementCosts, redistribute
from dlbrt.predict.schemes import NONE, Scheme
from dlbrt.predict.work import IterationCosts, Runs, count
from papers.zaki.cases import MOST_LOAD, Case
from papers.zaki.speed import under

__all__ = ["Setting", "evaluate", "history", "loaded", "processors", "static"]


@dataclass(frozen=True)
class Setting:
    """What is played: ``held[r]`` are rank r's iterations at the start, ``loads[r]`` its emulated load."""

    work: IterationCosts
    held: tuple[Runs, ...]
    loads: tuple[Load, ...]
    duration_s: float
    network: Network
    iteration_bytes: float = 0.0
    rules: ModelOptions = field(default_factory=ModelOptions)


#: At the first synchronization: time, iterations held, speeds -> what is committed to, and its groups.
Commit = Callable[[float, Sequence[Runs], Sequence[float]], tuple[Scheme, Sequence[Sequence[int]]]]


def loaded(
    case: Case,
    network: Network,
    duration_s: float,
    seed: int,
    rules: ModelOptions | None = None,
    most: int = MOST_LOAD,
) -> Setting:
    """A case of the paper under its discrete random load; different seeds share no rank's draws."""
    spec = LoadSpec(random=RandomLoad(most, duration_s, seed * 1000))
    loads = tuple(Load(spec, rank) for rank in range(case.ranks))
    return Setting(
        case.work, case.held(), loads, duration_s, network, case.iteration_bytes, rules or ModelOptions()
    )


def processors(setting: Setting, until_s: float) -> tuple[Processor, ...]:
    """The model's processors where all loads up to a time are known."""
    middles = [(block + 0.5) * setting.duration_s for block in range(int(until_s / setting.duration_s) + 1)]
    levels = ([load.level(middle) for middle in middles] for load in setting.loads)
    return tuple(under(loads, setting.duration_s) for loads in levels)


def history(setting: Setting, until_s: float, slices: int) -> LoadForecast:
    """What ranks that look at their speed so many times see, on machines known to be alike."""
    each_s = until_s / slices
    speeds = tuple(
        tuple(
            computed_s(load, setting.duration_s, k * each_s, (k + 1) * each_s) / each_s for k in range(slices)
        )
        for load in setting.loads
    )
    return LoadForecast(speeds, each_s, (1.0,) * len(speeds))


def static(setting: Setting) -> float:
    """The makespan without balancing."""
    work = setting.work
    return max(
        load.stretch(0.0, work.units(runs) * work.unit_s)
        for load, runs in zip(setting.loads, setting.held, strict=True)
    )


def computed_s(load: Load, duration_s: float, begin_s: float, end_s: float) -> float:
    """Unloaded seconds computed between two times, block by block of the load."""
    total_s, now_s = 0.0, begin_s
    while now_s < end_s:
        block = int(now_s / duration_s + 1e-9)
        until_s = min(end_s, (block + 1) * duration_s)
        total_s += (until_s - now_s) / (load.level((block + 0.5) * duration_s) + 1)
        now_s = until_s
    return total_s


@dataclass
class _Group:
    scheme: Scheme
    ranks: list[int]
    stopping: bool = False
    looked: set[int] = field(default_factory=set)


class _Player:
    def __init__(self, setting: Setting, commit: Commit | None) -> None:
        self.setting, self.commit = setting, commit
        ranks = len(setting.held)
        self.runs = list(setting.held)
        self.began_s = [0.0] * ranks
        self.lost_s = [0.0] * ranks
        self.speeds = [1.0] * ranks
        self.stopped_s = [0.0] * ranks
        self.version = [0] * ranks
        self.done = 0
        self.synchronizations = 0
        self.end_s = 0.0
        self.queue: list[tuple[float, int, Callable[[float], None]]] = []
        self.order = itertools.count()
        self.balancer: list[_Group] = []
        self.serving = False

    def at(self, when: float, step: Callable[[float], None]) -> None:
        heapq.heappush(self.queue, (when, next(self.order), step))

    def run(self, groups: Sequence[_Group]) -> None:
        for group in groups:
            self.resume(group, 0.0)
        while self.queue:
            now, _, step = heapq.heappop(self.queue)
            step(now)
        assert not any(self.runs), "iterations are left"
        assert self.done == sum(map(count, self.setting.held)), "an iteration was lost, or done twice"

    def resume(self, group: _Group, now: float) -> None:
        group.stopping, group.looked = False, set()
        group.ranks = [rank for rank in group.ranks if self.runs[rank]]
        self.end_s = max(self.end_s, now)
        for rank in group.ranks:
            begin_s = self.began_s[rank] = max(now, self.stopped_s[rank])
            self.version[rank] += 1
            end_s = begin_s + self.setting.loads[rank].stretch(begin_s, self.seconds(self.runs[rank]))
            self.at(end_s, lambda t, r=rank, v=self.version[rank], g=group: self.finished(g, r, v, t))

    def seconds(self, runs: Runs) -> float:
        return self.setting.work.units(runs) * self.setting.work.unit_s

    def finished(self, group: _Group, rank: int, version: int, now: float) -> None:
        if version != self.version[rank]:
            return
        if self.lost_s[rank]:
            lost, self.lost_s[rank] = self.lost_s[rank], 0.0
            self.at(now + lost, lambda t: self.finished(group, rank, version, t))
            return
        self.stop(group, rank, (), now)
        if not group.stopping:
            group.stopping = True
            arrives_s = now + group.scheme.interrupt_s(self.setting.network, len(group.ranks))
            self.at(arrives_s, lambda t: self.interrupt(group, t))

    def interrupt(self, group: _Group, now: float) -> None:
        for rank in group.ranks:
            if rank not in group.looked:
                self.version[rank] += 1
                left, stops_s = self.computed(rank, self.began_s[rank], now)
                self.at(stops_s, lambda t, r=rank, x=left: self.stop(group, r, x, t))

    def computed(self, rank: int, begin_s: float, now: float) -> tuple[Runs, float]:
        """What a rank has left when it looks, now or at the end of its iteration, and when that is."""
        load, runs, unit_s = self.setting.loads[rank], self.runs[rank], self.setting.work.unit_s
        fits_s = computed_s(load, self.setting.duration_s, begin_s, now - self.lost_s[rank])
        left = self.setting.work.left_after(runs, fits_s / unit_s)
        took_s = load.stretch(begin_s, self.seconds(runs) - self.seconds(left))
        stops_s = max(now, begin_s + took_s + self.lost_s[rank])
        self.lost_s[rank] = 0.0
        return left, stops_s

    def work_on(self, group: _Group, now: float) -> None:
        """What the ranks did since they gave their profiles."""
        for rank in group.ranks:
            if self.runs[rank] and self.stopped_s[rank] < now:
                left, self.stopped_s[rank] = self.computed(rank, self.stopped_s[rank], now)
                self.done += count(self.runs[rank]) - count(left)
                self.runs[rank] = left

    def stop(self, group: _Group, rank: int, left: Runs, now: float) -> None:
        worked_s = self.seconds(self.runs[rank]) - self.seconds(left)
        if now > self.began_s[rank] and worked_s > 0:
            self.speeds[rank] = worked_s / (now - self.began_s[rank])
        self.done += count(self.runs[rank]) - count(left)
        self.runs[rank] = left
        self.stopped_s[rank] = now
        self.version[rank] += 1
        group.looked.add(rank)
        if len(group.looked) == len(group.ranks):
            self.synchronizations += len(group.ranks) > 1
            wait_s = group.scheme.profiles_s(self.setting.network, len(group.ranks))
            self.at(now + wait_s, lambda t: self.profiles(group, t))

    def profiles(self, group: _Group, now: float) -> None:
        if self.commit is not None:
            commit, self.commit = self.commit, None
            scheme, groups = commit(now, self.runs, self.speeds)
            for ranks in groups:
                self.request(_Group(scheme, list(ranks)), now)
        else:
            self.request(group, now)

    def request(self, group: _Group, now: float) -> None:
        if group.scheme == NONE:
            self.resume(group, now)
        elif group.scheme.central and len(group.ranks) > 1:
            self.balancer.append(group)
            self.serve(now)
        else:
            delay_s = self.setting.rules.decision_s if len(group.ranks) > 1 else 0.0
            self.at(now + delay_s, lambda t: self.decide(group, t))

    def serve(self, now: float) -> None:
        if self.balancer and not self.serving:
            self.serving = True
            switch_s = self.setting.network.switch_s
            group = self.balancer.pop(0)
            if self.runs[0] and 0 not in group.ranks:
                self.lost_s[0] += switch_s
            self.at(now + switch_s + self.setting.rules.decision_s, lambda t: self.decide(group, t))

    def decide(self, group: _Group, now: float) -> None:
        if self.setting.rules.reserves:
            self.work_on(group, now)
            self.end_s = max(self.end_s, *(self.stopped_s[rank] for rank in group.ranks))
        messages, moved = self.redistribute(group)
        network = self.setting.network
        free_s = now + group.scheme.instructions_s(network, messages)
        if group.scheme.central and self.serving:
            self.at(free_s, self.free)
        size = moved * self.setting.iteration_bytes
        moves_s = group.scheme.movement_s(network, messages, size)
        self.at(free_s + moves_s, lambda t: self.resume(group, t))

    def free(self, now: float) -> None:
        self.serving = False
        self.serve(now)

    def redistribute(self, group: _Group) -> tuple[int, int]:
        if len(group.ranks) < 2 or not any(self.runs[rank] for rank in group.ranks):
            return 0, 0
        network, scheme = self.setting.network, group.scheme
        held = [self.runs[rank] for rank in group.ranks]
        speeds = [self.speeds[rank] for rank in group.ranks]
        once_s = scheme.synchronization_s(network, len(group.ranks)) + self.setting.rules.decision_s
        message_s = network.latency_s * (1 + scheme.central)
        charges = MovementCosts(once_s, message_s, self.setting.iteration_bytes / network.bandwidth)
        found = redistribute(self.setting.work, held, speeds, self.setting.rules, charges)
        if found is None:
            return 0, 0
        for rank, runs in zip(group.ranks, found.held, strict=True):
            self.runs[rank] = runs
        return found.messages, found.moved


def evaluate(
    setting: Setting, scheme: Scheme, groups: Sequence[Sequence[int]], commit: Commit | None = None
) -> tuple[float, int]:
    """The makespan, and how many synchronizations there were.

    With ``commit`` the first synchronization is as ``scheme`` has it, among all; then ``commit`` says what
    goes on.
    """
    player = _Player(setting, commit)
    player.run([_Group(scheme, list(ranks)) for ranks in groups])
    return player.end_s, player.synchronizations
