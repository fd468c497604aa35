"""What `auto` does at the first synchronization: it asks the model, and commits to what is cheapest.

Until then all ranks balance together (Zaki et al., section 1.3.3: no strategy is chosen before the first
synchronization point), as `GDDLB` does, or as `GCDLB` where the network makes that clearly cheaper. There
rank 0 has all profiles, with the speeds of each rank by slices of its time, and the books say what is left.
It asks the model while the other ranks work, and tells them. What that synchronization took says how late
hosts answer that others use too: where it is more than by the network, all messages are taken to be late.

Where an exchange among all costs some per cent of the loop, groups from the start do better if loads last for
a short part of it, and worse if they last, as one group then stays slower than the other: over the paper's
cases they lose as much as they gain. How long loads last is not known before ranks have been seen, so all
begin together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from itertools import pairwise

from dlbrt.core.agent import PeerStrategy
from dlbrt.core.books import MOST_LATE, Books
from dlbrt.core.model.choose import Choice, Known, choose
from dlbrt.core.model.forecast import History
from dlbrt.core.model.groups import Groups
from dlbrt.core.model.network import Network
from dlbrt.core.model.redistribute import Rules
from dlbrt.core.model.repertoire import CANDIDATES
from dlbrt.core.model.schemes import scheme
from dlbrt.core.model.work import Runs, Work
from dlbrt.core.profile import SLICES, Profile
from dlbrt.core.registry import BEFORE_CHOICE, strategy, synchronizing
from dlbrt.core.strategy import Strategy
from dlbrt.dist.amounts import Amounts
from dlbrt.dist.spans import Spans
from dlbrt.records import dataclass

__all__ = ["MOST_WRITTEN", "Chooser", "prefix"]

#: How all ranks balance until a strategy is chosen, where that costs at most this part of the other way.
CENTRAL, CHEAPER = "GCDLB", 0.6

#: What a loop under way can go over to beside the strategies of the paper: what begins with what ranks hold.
ELIGIBLE = frozenset({"steal", "diffusion"})


@dataclass(slots=True)
class Chooser:
    """Commits to a strategy of the paper, by the network and the groups that a local one would have.

    ``within`` are the networks among the ranks of each group, where they differ from that among all.
    ``choice`` is the explained record, once there is one. From the same it chooses the same, on any machine.
    """

    network: Network
    groups: Groups
    within: tuple[Network, ...] = ()
    choice: Choice | None = field(default=None, init=False)

    @property
    def begins(self) -> Strategy:
        """How all balance until a strategy is chosen."""
        ranks = sum(map(len, self.groups))
        apart_s = scheme(BEFORE_CHOICE).synchronization_s(self.network, ranks)
        central_s = scheme(CENTRAL).synchronization_s(self.network, ranks) + self.network.switch_s
        return synchronizing(CENTRAL if central_s < CHEAPER * apart_s else BEFORE_CHOICE)

    def __call__(self, books: Books, profiles: Sequence[Profile]) -> Strategy | PeerStrategy:
        """The strategy for what is left; the books are those after the synchronization.

        Where what is left is done before a choice would have paid, it is the one there is.
        """
        parameters = books.terms.parameters
        speeds, left_s = books.history.speeds, books.left_s
        if speeds is None or left_s is None or left_s < parameters.least_choice_s:
            return self.begins if self.choice is None else strategy(self.choice.strategy)
        self.choice = choose(self._known(books, profiles, speeds), others=CANDIDATES, eligible=ELIGIBLE)
        return strategy(self.choice.strategy)

    def _known(self, books: Books, profiles: Sequence[Profile], speeds: Sequence[float]) -> Known:
        terms, elapsed_s = books.terms, books.history.computed_s
        late = self._late(books, profiles[0].waited_s)
        work, held = _work(books.shares, terms.amounts)
        return Known(
            elapsed_s=elapsed_s,
            work=work,
            held=held,
            speeds=tuple(speeds),
            history=_history(profiles, speeds, elapsed_s),
            groups=self.groups,
            network=self.network.slowed(late),
            within=tuple(each.slowed(late) for each in self.within),
            iteration_bytes=terms.unit_bytes,
            bare=terms.bare,
            rules=Rules(
                profitability=terms.parameters.profitability,
                least_moved=terms.parameters.least_moved,
                charged=True,
                reserves=True,
            ),
        )

    def _late(self, books: Books, waited_s: float) -> float:
        """How many times as long as expected rank 0 waited, less an iteration of the slowest; 1 at least."""
        expected_s = scheme(self.begins.name).synchronization_s(self.network, len(books.members))
        return min(MOST_LATE, max(1.0, books.late_s(waited_s) / expected_s)) if expected_s > 0 else 1.0


#: Tables of so many units at most are written out: a choice looks up some thousand of them.
MOST_WRITTEN = 4096


class _Prefix(Sequence[int]):
    """The work before a unit, as the model looks it up; units beyond the table's edges are not asked for."""

    def __init__(self, amounts: Amounts) -> None:
        self._amounts = amounts
        self._found: dict[int, int] = {}

    def __len__(self) -> int:
        return self._amounts.edges[-1] + 1

    def __getitem__(self, unit: int) -> int:  # type: ignore[override]
        found = self._found.get(unit)
        if found is None:
            found = self._found[unit] = self._amounts.before(unit)
        return found


def prefix(amounts: Amounts) -> Sequence[int]:
    """The work before each unit, by a table that is not empty: written out where that is soon done."""
    edges, ticks = amounts.edges, amounts.ticks
    if edges == tuple(range(len(edges))):
        return ticks
    if edges[-1] >= MOST_WRITTEN:
        return _Prefix(amounts)
    written = [ticks[0]] * edges[0]
    for (low, high), (begin, end) in zip(pairwise(edges), pairwise(ticks), strict=True):
        written += [begin + (end - begin) * unit // (high - low) for unit in range(high - low)]
    return (*written, ticks[-1])


def _work(shares: Sequence[Spans], amounts: Amounts) -> tuple[Work, tuple[Runs, ...]]:
    """What is left, in ticks, and who holds it.

    Where iterations are dealt in turn each share has a bit of everything: what is dealt counts as alike.
    """
    dealt = any(run.step > 1 for spans in shares for run in spans.runs)
    if not (amounts.uniform or dealt):
        held = tuple(tuple((run.start, run.stop) for run in spans.runs) for spans in shares)
        return Work(1.0, prefix(amounts)), held
    mean = (sum(map(amounts.of, shares)) or 1) / sum(map(len, shares))
    return Work(mean), tuple(((0, len(spans)),) if spans else () for spans in shares)


def _history(profiles: Sequence[Profile], speeds: Sequence[float], elapsed_s: float) -> History:
    """The speeds of the slices of each rank's time so far; in a slice without work, its present one."""
    slices = tuple(
        tuple(seen if seen > 0 else speed for seen in profile.slices)
        for profile, speed in zip(profiles, speeds, strict=True)
    )
    return History(slices, max(elapsed_s, 1e-9) / SLICES)
