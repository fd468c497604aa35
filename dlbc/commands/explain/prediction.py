"""What a run of a loop takes on P ranks, by its text: S / P, as far as shares are even, and sharing.

S, the seconds of all iterations one after the other, is their work W(i) at `OPERATION_S` each. Sharing costs
more: the loop is sent to all ranks, its rows go there and back, and all are waited for, on the network that
the model of `dlbrt.predict` assumes for the ranks of one host. What iterations contribute, rank 0 takes in
order (`dlbc.commands.explain.contributed`).
"""

from __future__ import annotations

from math import ceil

from dlbrt.records import dataclass

#: Seconds of an operation of W(i), in plain Python: 14e-9 to 46e-9 were measured on loops over numbers, lists
#: and elements of arrays (Python 3.11, an AMD EPYC).
OPERATION_S = 3e-8

#: Beyond the messages of the model: a loop is prepared and ended on each rank.
_PREPARED_S = 2e-4

#: The shortest run is looked for among so many ranks.
_MOST_RANKS = 4096


@dataclass(frozen=True, slots=True)
class PredictedTime:
    """Seconds of a run on the ranks, and ``alone_s`` on one; ``shortest_on``: the ranks that take least."""

    seconds: float
    alone_s: float
    shortest_on: int

    def __str__(self) -> str:
        best = f"{self.shortest_on} rank{'s' * (self.shortest_on != 1)}"
        run = f"a run takes about {seconds_text(self.seconds)}, on one rank {seconds_text(self.alone_s)}"
        rate = f"{OPERATION_S * 1e9:.0f} ns an operation"
        return f"{run}, by W at {rate} (an order of magnitude); it is shortest on about {best}"


def predicted_time(
    alone_s: float, iterations: int, ranks: int, largest: float, row_bytes: float, in_order_s: float
) -> PredictedTime:
    """The time of a run that takes ``alone_s`` on one rank.

    ``largest`` is the time of the slowest rank over the ideal time; ``row_bytes`` are those of all rows,
    there and back; ``in_order_s`` are those of `contributed_s`. For other numbers of ranks iterations count
    as equal.
    """
    return PredictedTime(
        alone_s * min(largest / ranks, 1.0) + overhead(ranks, row_bytes, in_order_s),
        alone_s,
        shortest_on(alone_s, iterations, row_bytes, in_order_s),
    )


def shortest_on(alone_s: float, iterations: int, row_bytes: float, in_order_s: float = 0.0) -> int:
    """The number of equal ranks on which a run is shortest; the smallest, if several are."""

    def seconds(ranks: int) -> float:
        return alone_s * ceil(iterations / ranks) / iterations + overhead(ranks, row_bytes, in_order_s)

    return min(range(1, min(iterations, _MOST_RANKS) + 1), key=seconds, default=1)


def overhead(ranks: int, size: float, in_order_s: float = 0.0) -> float:
    """Seconds that sharing a run among ranks costs.

    ``size`` bytes of rows travel, and ``in_order_s`` are those of `contributed_s`.
    """
    from dlbrt.predict.network import Network

    if ranks == 1:
        return 0.0
    network = Network.default()
    messages_s = network.one_to_all.seconds(ranks) + network.all_to_one.seconds(ranks)
    return _PREPARED_S + 2 * messages_s + size * (1 - 1 / ranks) / network.bandwidth + in_order_s


def seconds_text(seconds: float) -> str:
    """A time with two or three digits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e6:.0f} us"
