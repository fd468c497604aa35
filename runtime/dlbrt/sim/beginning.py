"""What the ranks of a simulation begin with, as those of a run: shares, terms, what is known of the loop."""

from __future__ import annotations

from dlbrt.core.agent import PeerStrategy, Start
from dlbrt.core.books import Terms
from dlbrt.core.chunks.loop import Known
from dlbrt.core.parameters import Parameters
from dlbrt.core.strategy import Strategy
from dlbrt.sim.machine import LoopModel, Machine

__all__ = ["start_of"]


def start_of(
    machine: Machine,
    loop: LoopModel,
    strategy: Strategy | PeerStrategy,
    parameters: Parameters,
    known: Known | None = None,
) -> Start:
    """The start under that strategy; chunk rules know so much, or what an earlier run would have told."""
    among = machine.network.all_to_all
    group_s = {tuple(group): among.seconds(len(group)) for group in machine.groups}
    exchange_s = among.seconds(machine.ranks)
    bare = not loop.unit_bytes
    terms = Terms(loop.units, parameters, exchange_s, loop.amounts, loop.unit_bytes, group_s, among, bare)
    if not isinstance(strategy, PeerStrategy):
        return Start(loop.dealt(machine.ranks), terms, begins=True)
    known = known or Known(*loop.costs().mean_and_deviation, 2 * machine.network.latency_s, machine.speeds)
    shares = strategy.first_shares(loop.units, machine.ranks, loop.amounts, known, bare=bare)
    return Start(shares or loop.dealt(machine.ranks), terms, known, begins=True)
