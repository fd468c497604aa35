"""Deaths in a play of a schedule: a run is called off, and the living play what is left of the loop.

What is left, its shares and its strategy are those of `dlbrt.balance.restart`, as in `dlbrt.mpi.root.run`. No
message of a run that was called off comes to the next one, whose ranks are numbered anew. Besides the laws of
each run, each position before the lowest failure is done once by all of them together, none twice: by rank 0
in a run that was called off, or in the last run.
"""

from __future__ import annotations

from collections import Counter
from random import Random

from dlbrt.balance.restart import deal_of_rest, strategy_of_rest
from dlbrt.balance.setup import agent_of, initial_state
from dlbrt.balance.strategies import strategy
from dlbrt.data.spans import Spans, left_out
from dlbrt.predict.groups import GroupRules
from dlbrt.predict.network import Network

from tests.fuzz.schedule_network import Played, Rows, Violation
from tests.fuzz.schedule_play import Play
from tests.fuzz.schedule_scenarios import Scenario


def play_with_deaths(of: Scenario, world: Play, network: Network, draw: Random) -> Played:
    """The loop that begins with ``world``, to the end of a run that no death calls off."""
    stop = world.units.stop
    by_root: list[int] = []
    failed = stop
    for deaths, when in enumerate(of.deaths, 1):
        if world.run(when * of.cost_s) is not None:
            break
        by_root += world.played.done[0]
        failed = min((failed, *world.ranks[0].raised))
        stands = Spans.of(range(of.first), *(range(p, p + 1) for p in by_root))
        if not (left := left_out(failed, [stands])):
            _check(of, by_root, [failed], stop)
            return world.played
        world = _rest(of, world, network, left, of.ranks - deaths, draw)
    else:
        world.run()
    if of.deaths:
        done = [*by_root, *(p for each in world.played.done for p in each)]
        _check(of, done, [failed, *world.played.raised], stop)
    return world.played


def _rest(of: Scenario, before: Play, network: Network, left: Spans, ranks: int, draw: Random) -> Play:
    """What is left of a loop, with fewer ranks."""
    begins, everyone = strategy(strategy_of_rest(of.strategy)), (tuple(range(ranks)),)
    deal = deal_of_rest(left, before.units.stop, ranks)
    start = initial_state(
        deal, of.parameters, network.all_to_all.seconds(ranks) or of.parameters.exchange_s,
        0.0 if of.rows is Rows.NONE else 8.0, network, everyone, without_rows=of.rows is Rows.NONE,
    )  # fmt: skip
    return Play(
        lambda rank, now: agent_of(begins, start, rank, now, everyone, GroupRules()),
        deal.units, deal.shares, draw, of.draws, before.cost_s,
        rows=of.rows, rendezvous=of.rendezvous, fails_at=before.fails_at, traced=before.traced, left=left,
    )  # fmt: skip


def _check(of: Scenario, done: list[int], raised: list[int], stop: int) -> None:
    """What holds of all runs together."""
    lowest = min((p for p in of.fails_at if of.first <= p < stop), default=stop)
    if min(raised) != lowest:
        raise Violation(f"position {lowest} fails first, {min(raised)} has failed, in all runs")
    counts = Counter(done)
    if lost := [p for p in range(of.first, lowest) if not counts[p]]:
        raise Violation(f"positions {lost} are lost in all runs")
    if twice := [p for p, count in counts.items() if count > 1]:
        raise Violation(f"positions {twice} are done twice in all runs")
