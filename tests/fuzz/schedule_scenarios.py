"""What a play of a schedule begins with, drawn from a seed: see `tests.fuzz.schedules`."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from random import Random

from dlbrt.balance.strategies import AUTO, names, pooled
from dlbrt.chunks.statistics import LoopStatistics
from dlbrt.parameters import Parameters
from dlbrt.predict.groups import GroupRules, at_random, blocks

from tests.fuzz.schedule_network import Draws, Rows

__all__ = ["Scenario", "scenario"]

#: What `AUTO` may commit to (`dlbrt.predict.choose`).
CHOICES = ("GDDLB", "GCDLB", "LDDLB", "LCDLB", "steal", "diffusion", "none")

#: One play in so many is under `AUTO` with the model, which takes longer than all else.
WITH_MODEL = 40

#: The part of the plays in which ranks die.
WITH_DEATHS = 0.15

TICK = 1e-3


@dataclass(frozen=True)
class Scenario:
    """What is played; from it and ``seed`` everything follows.

    ``strategy`` begins; where there are ``choices``, rank 0 commits to them in turn. ``hosts`` makes the
    groups: one of the ranks of each host. ``spread``: how unequal iterations are; ``first``: the position
    that the loop goes on from. ``fails_at`` are positions, ``interrupts`` (rank, time in units of the cost of
    an iteration). ``deaths`` are times in the same units at which one of the other ranks dies, counted from
    when its run, the whole loop or the rest after a death, begins.
    """

    seed: int
    ranks: int
    units: int
    strategy: str
    choices: tuple[str, ...] = ()
    first: int = 0
    folded: bool = False
    dealt: str = "block"
    hosts: tuple[int, ...] = ()
    rules: GroupRules = field(default_factory=GroupRules)
    rows: Rows = Rows.NONE
    rendezvous: bool = False
    weighted: bool = False
    cost_s: float = TICK
    spread: float = 0.0
    fails_at: tuple[int, ...] = ()
    interrupts: tuple[tuple[int, float], ...] = ()
    deaths: tuple[float, ...] = ()
    known: LoopStatistics = field(default_factory=LoopStatistics)
    parameters: Parameters = field(default_factory=Parameters)
    network_s: float = 1e-4
    draws: Draws = field(default_factory=Draws)

    def __str__(self) -> str:
        default = Scenario(0, 0, 0, "")
        given = ((each.name, getattr(self, each.name)) for each in fields(self))
        changed = [f"{name}={value!r}" for name, value in given if value != getattr(default, name)]
        return f"Scenario({', '.join(changed)})"


def scenario(seed: int) -> Scenario:
    """The scenario of a seed."""
    draw = Random(seed)
    ranks = draw.choice((2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 10, 12))
    units = draw.choice((draw.randint(0, ranks), draw.randint(1, 30), draw.randint(20, 100)))
    folded, first = draw.random() < 0.2, draw.choice((0, 0, 0, 1, 7))
    name, choices = _strategy(draw, seed)
    hosts = _hosts(draw, ranks)
    some = draw.choice((0, 0, 0, 1, 2, 5))
    positions = range(first, first + units * (2 if folded else 1))
    fails_at = draw.sample(positions, min(some, len(positions)))
    interrupts = [(draw.randrange(ranks), units * draw.random() * 3) for _ in range(draw.choice((1, 1, 2)))]
    rules = GroupRules(draw.random() < 0.4, draw.random() < 0.5, draw.random() < 0.3)
    made = Scenario(
        seed, ranks, units, name, choices, first, folded,
        dealt=draw.choice(("block", "block", "cyclic", "turns", "uneven", "one")),
        hosts=hosts, rules=rules, rows=draw.choice(tuple(Rows)), rendezvous=draw.random() < 0.5,
        weighted=draw.random() < 0.3, cost_s=draw.choice((1e-6, 1e-4, TICK, TICK, 0.1)),
        spread=draw.choice((0.0, 0.0, 1.0, 3.0)), fails_at=tuple(sorted(fails_at)),
        interrupts=tuple(interrupts) if draw.random() < 0.1 else (), known=_known(draw, ranks),
        parameters=_parameters(draw, surveys=name == "steal" and bool(choices)),
        network_s=draw.choice((0.0, 1e-6, 1e-4, 1e-3, 0.05)),
        draws=_draws(draw),
    )  # fmt: skip
    return made if made.interrupts else replace(made, deaths=_deaths(seed, ranks, units))


def _deaths(seed: int, ranks: int, units: int) -> tuple[float, ...]:
    """Deaths, up to those of all ranks above 0; some come when the loop is over, while rank 0 gathers."""
    draw = Random(seed ^ 0xDEAD)
    if draw.random() >= WITH_DEATHS:
        return ()
    spread = units * draw.choice((0.2, 1.0, 3.0))
    return tuple(draw.random() * spread for _ in range(draw.randint(1, ranks - 1)))


def _strategy(draw: Random, seed: int) -> tuple[str, tuple[str, ...]]:
    if seed % WITH_MODEL == 0:
        return AUTO, ()
    if draw.random() < 0.2:
        return draw.choice(("GDDLB", "GCDLB", "steal", "steal")), tuple(draw.choices(CHOICES, k=3))
    family = draw.choice(("synchronizing", "local", "peers", "pooled"))
    of_family = {
        "local": ("LDDLB", "LCDLB"),
        "peers": ("steal", "diffusion"),
        "pooled": tuple(name for name in names() if pooled(name)),
        "synchronizing": ("GDDLB", "GCDLB", "periodic", "affinity", "gradient", "none"),
    }
    return draw.choice(of_family[family]), ()


def _hosts(draw: Random, ranks: int) -> tuple[int, ...]:
    """The group of each rank: blocks, drawn at random, or hosts of any sizes."""
    size = draw.randint(1, ranks)
    kind = draw.choice(("blocks", "random", "hosts"))
    if kind == "hosts":
        return tuple(draw.randrange(max(1, ranks // 2)) for _ in range(ranks))
    groups = blocks(ranks, size) if kind == "blocks" else at_random(ranks, size, draw.randrange(100))
    of_rank = {rank: number for number, group in enumerate(groups) for rank in group}
    return tuple(of_rank[rank] for rank in range(ranks))


def _known(draw: Random, ranks: int) -> LoopStatistics:
    if draw.random() < 0.5:
        return LoopStatistics()
    weights = tuple(draw.choice((0.5, 1.0, 4.0)) for _ in range(ranks))
    return LoopStatistics(
        1e-3, draw.choice((0.0, 1e-3)), draw.choice((0.0, 1e-4)), draw.choice(((), weights))
    )


def _parameters(draw: Random, *, surveys: bool) -> Parameters:
    """Thresholds; where a choice needs a survey, loops are as short as any."""
    if surveys:
        return replace(_parameters(draw, surveys=False), min_choice_s=0.0)
    if draw.random() < 0.3:
        return Parameters()
    return Parameters(
        profitability=draw.choice((0.0, 0.1)),
        min_moved=draw.choice((0.0, 0.01)),
        min_sample_s=draw.choice((1e-9, 1e-3)),
        interrupt_slack=draw.choice((0.0, 0.005, 0.5)),
        interval_factor=draw.choice((0.0, 1.0, 5.0)),
        reserve_factor=draw.choice((0.0, 2.0, 50.0)),
        period_s=draw.choice((1e-6, 1e-3, 0.1)),
        min_choice_s=draw.choice((0.0, 0.05)),
        adapts=draw.random() < 0.5,
        whole_history=draw.random() < 0.3,
        poll_s=draw.choice((0.0, 1e-3)),
        exchange_s=draw.choice((1e-6, 2e-4, 0.01)),
        byte_s=draw.choice((0.0, 1e-9, 1e-4)),
    )


def _draws(draw: Random) -> Draws:
    return Draws(
        tick_s=draw.choice((0.0, 0.0, TICK, 10 * TICK)),
        latency_s=draw.choice((0.0, 1e-6, 1e-4, TICK, 0.05)),
        tail=draw.choice((0.0, 0.1, 0.5)),
        slow_pairs=draw.choice((0.0, 0.2)),
        late_s=draw.choice((0.0, 1e-5, TICK, 0.05)),
        uneven=draw.choice((1.0, 1.0, 3.0, 100.0)),
        frozen=draw.choice((0.0, 0.3)),
        pause_s=draw.choice((0.01, 1.0, 30.0)),
    )
