"""Random schedules of the policy core: every strategy, over a network that does whatever MPI allows.

    python -m tests.fuzz.schedules --seeds 0 100000 --jobs 2

A seed is a scenario (ranks, units, shares, groups, parameters, how times are drawn, failures) and the draws
of its play. How long iterations and messages take, when ranks begin and look, and what fails is an
adversary's; the laws that have to hold stand in `tests.fuzz.schedule_play`, and of ranks that die in
`tests.fuzz.schedule_deaths`. A seed that breaks one is printed
with a smaller scenario that does so too, and the trace of its events; ``--trace SEED`` prints that of any
seed.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields, replace
from itertools import accumulate, islice, pairwise
from random import Random

from dlbrt.balance.agent import Agent, InitialState, PeerStrategy
from dlbrt.balance.member import ChoiceRule
from dlbrt.balance.setup import agent_of, begins_with, initial_state
from dlbrt.balance.strategies import AUTO, strategy
from dlbrt.balance.strategy import Strategy
from dlbrt.data.layout import InitialPartition, block, cyclic, in_turns
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import UNIFORM, Units, WorkTable
from dlbrt.predict.groups import Groups, by_host
from dlbrt.predict.network import Network, Pattern

from tests.fuzz.schedule_deaths import play_with_deaths
from tests.fuzz.schedule_network import Played, Rows, Violation
from tests.fuzz.schedule_play import Play
from tests.fuzz.schedule_scenarios import Scenario, scenario

__all__ = ["Scenario", "failure_of", "main", "played", "scenario", "shrunk"]

#: Strategies whose messages go by the clock too, and the least time between two of them.
BY_THE_CLOCK, LEAST_PERIOD_S = (AUTO, "steal", "diffusion"), 5e-3


def played(of: Scenario, *, traced: bool = False) -> Played:
    """The play of a scenario; `Violation` where a law does not hold."""
    draw = Random(of.seed ^ 0x5EED)
    stop = of.first + (2 * of.units - (draw.random() < 0.5) if of.folded and of.units else of.units)
    units = Units(of.first, stop, of.folded)
    work_table = _work_table(draw, units) if of.weighted else UNIFORM
    start_of, make, shares, network = _agents(of, draw, units, work_table)
    costs = {p: of.cost_s * math.exp(of.spread * draw.gauss(0, 1)) for p in range(of.first, stop)}
    world = Play(
        make, units, shares, draw, of.draws, costs.__getitem__,
        rows=Rows.NONE if start_of.context.without_rows else of.rows, rendezvous=of.rendezvous,
        fails_at=frozenset(of.fails_at), traced=traced,
        interrupts=[(rank, when * of.cost_s) for rank, when in of.interrupts],
    )  # fmt: skip
    try:
        found = play_with_deaths(of, world, network, draw)
        _check_counts(of, found)
    except Exception as error:
        if traced:
            print(*world.played.trace, sep="\n")
        if isinstance(error, Violation):
            raise
        raise Violation(f"{type(error).__name__}: {error}") from error
    return found


def _check_counts(of: Scenario, found: Played) -> None:
    """Each synchronization that finds work left has a unit that was done or dropped since the last one.

    Each unit has a few messages for each rank; where groups exchange work, each group has a report for each
    rank. Thieves without a victim, and neighbours, go by the clock too.
    """
    if found.synchronizations > of.units:
        raise Violation(f"{found.synchronizations} synchronizations of {of.units} units")
    most: float = (of.units + 2 * of.ranks + 4) * of.ranks
    if of.rules.rounds:
        most *= 1 + len({*of.hosts})
    if of.strategy in BY_THE_CLOCK or {*BY_THE_CLOCK} & {*of.choices}:
        most = 4 * most + of.ranks**2 * found.end_s / LEAST_PERIOD_S
    if found.messages.total() > most:
        raise Violation(f"{found.messages} messages, expected at most {most:.0f}")


class _Choices:
    """Chooses strategies in turn, the last one for good."""

    def __init__(self, choices: Sequence[str]) -> None:
        self._left = list(choices)

    def __call__(self, *_: object) -> Strategy | PeerStrategy:
        return strategy(self.surveyed())

    def surveyed(self, *_: object) -> str:
        """As `SurveyRule.surveyed`."""
        return self._left.pop() if len(self._left) > 1 else self._left[0]


def _agents(
    of: Scenario, draw: Random, units: Units, work_table: WorkTable
) -> tuple[InitialState, Callable[[int, float], Agent], tuple[Spans, ...], Network]:
    """What all ranks know, what makes the agent of one, the first shares, and the network as it is known."""
    each = Pattern((-of.network_s, of.network_s))
    network = Network(of.network_s, 1e9, each, each, Pattern((0.0, of.network_s)), of.network_s / 2)
    groups: Groups = by_host(of.hosts) if of.hosts else (tuple(range(of.ranks)),)
    begins, chooser = begins_with(of.strategy, network, groups)
    deal = InitialPartition(units, _shares(of, draw, units), work_table)
    without_rows = of.rows is Rows.NONE
    if isinstance(begins, PeerStrategy):
        deal = begins.first_deal(deal, of.known, without_rows=without_rows)
    start = initial_state(
        deal, of.parameters, network.all_to_all.seconds(of.ranks) or of.parameters.exchange_s,
        0.0 if without_rows else 8.0, network, groups, known=of.known, without_rows=without_rows,
    )  # fmt: skip
    commit: ChoiceRule | None = _Choices(of.choices) if of.choices else chooser

    def make(rank: int, now: float) -> Agent:
        return agent_of(begins, start, rank, now, groups, of.rules, commit)

    return start, make, deal.shares, network


def _shares(of: Scenario, draw: Random, units: Units) -> tuple[Spans, ...]:
    n, ranks = len(units), of.ranks
    match of.dealt:
        case "cyclic":
            found = cyclic(n, ranks)
        case "turns":
            found = in_turns(n, ranks, 3)
        case "uneven":
            cuts = sorted(draw.randint(0, n) for _ in range(ranks - 1))
            found = tuple(Spans.of(range(low, high)) for low, high in pairwise((0, *cuts, n)))
        case "one":
            chosen = draw.randrange(ranks)
            found = tuple(Spans.of(range(n if rank == chosen else 0)) for rank in range(ranks))
        case _:
            found = block(n, ranks)
    start = units.all.runs[0].start if n else 0
    return tuple(
        Spans(tuple(range(run.start + start, run.stop + start, run.step) for run in share.runs))
        for share in found
    )


def _work_table(draw: Random, units: Units) -> WorkTable:
    """Work in ticks by unit, of which some are none."""
    end = units.all.runs[0].stop if len(units) else 0
    if not end:
        return UNIFORM
    edges = sorted({0, end, *(draw.randint(0, end) for _ in range(draw.randint(0, 6)))})
    ticks = [draw.choice((0, 1, 3, 1000)) * (high - low) for low, high in pairwise(edges)]
    return WorkTable(tuple(edges), tuple(accumulate(ticks, initial=0)))


def failure_of(of: Scenario) -> str | None:
    """How a scenario breaks a law; None if it does not."""
    try:
        played(of)
    except Violation as error:
        return str(error)
    return None


#: Fields of a scenario that have no value which makes it simpler, or that are made shorter.
_OF_A_SEED = ("seed", "ranks", "units", "strategy", "choices", "fails_at", "interrupts", "deaths")

#: Play seeds that a smaller scenario is tried with, and how long a smaller one is looked for.
_TRIES, _LONGEST_S = 12, 60.0


def shrunk(of: Scenario) -> Scenario:
    """A smaller scenario that breaks a law too, as far as one is found in time."""
    found, smaller, until = of, True, time.monotonic() + _LONGEST_S
    while smaller and time.monotonic() < until:
        candidates = (
            replace(each, seed=seed)
            for each in _smaller(found)
            for seed in range(found.seed, found.seed + _TRIES)
        )
        better = next((each for each in candidates if failure_of(each) is not None), None)
        smaller, found = better is not None, better or found
    return found


def _smaller(of: Scenario) -> Iterator[Scenario]:
    default = Scenario(of.seed, of.ranks, of.units, of.strategy)
    for units in sorted({of.units // 2, of.units - 1}):
        if units >= 0:
            yield replace(of, units=units, fails_at=tuple(p for p in of.fails_at if p < of.first + units))
    for ranks in sorted({2, of.ranks // 2, of.ranks - 1}):
        if 2 <= ranks < of.ranks:
            interrupts = tuple(each for each in of.interrupts if each[0] < ranks)
            known, deaths = replace(of.known, weights=of.known.weights[:ranks]), of.deaths[: ranks - 1]
            fewer = replace(of, ranks=ranks, hosts=of.hosts[:ranks], known=known)
            yield replace(fewer, interrupts=interrupts, deaths=deaths)
    for name in ("fails_at", "interrupts", "deaths"):
        for place in range(len(getattr(of, name))):
            some = getattr(of, name)
            yield replace(of, **{name: some[:place] + some[place + 1 :]})
    for place in range(len(of.choices) if len(of.choices) > 1 else 0):
        yield replace(of, choices=of.choices[:place] + of.choices[place + 1 :])
    for each in fields(of):
        if each.name not in _OF_A_SEED:
            value = getattr(default, each.name)
            if value != getattr(of, each.name):
                yield replace(of, **{each.name: value})


def _chunk(seeds: Sequence[int]) -> tuple[list[tuple[int, str]], Counter[str]]:
    failed, counts = [], Counter[str]()
    for seed in seeds:
        try:
            found = played(scenario(seed))
        except Violation as error:
            failed.append((seed, str(error)))
            continue
        counts["events"] += found.events
        counts["messages"] += found.messages.total()
        counts["synchronizations"] += found.synchronizations
    return failed, counts


def main(given: Sequence[str] | None = None) -> int:
    """Play the seeds; the exit status is 1 if one breaks a law."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 2000), metavar=("LO", "HI"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--trace", type=int, metavar="SEED", help="print the events of one seed")
    parser.add_argument("--most", type=int, default=5, help="failures that are made small (default: 5)")
    options = parser.parse_args(given)
    if options.trace is not None:
        print(scenario(options.trace))
        print(*played(scenario(options.trace), traced=True).trace, sep="\n")
        return 0
    began, seeds = time.monotonic(), iter(range(*options.seeds))
    chunks = iter(lambda: list(islice(seeds, 200)), [])
    failed, counts = [], Counter[str]()
    with ProcessPoolExecutor(options.jobs) as pool:
        for more, others in pool.map(_chunk, chunks):
            failed += more
            counts += others
            for seed, text in more:
                print(f"seed {seed}: {text[:300]}", flush=True)
    for seed, _ in failed[: options.most]:
        _show(shrunk(scenario(seed)))
    total = options.seeds[1] - options.seeds[0]
    figures = ", ".join(f"{count} {what}" for what, count in counts.items())
    print(f"{total} schedules, {len(failed)} broke a law; {figures}; {time.monotonic() - began:.0f} s")
    return 1 if failed else 0


def _show(small: Scenario) -> None:
    print(f"\n{small}")
    try:
        played(small, traced=True)
    except Violation as error:
        print(f"-> {error}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
