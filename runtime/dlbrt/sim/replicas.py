"""Books that many replicas keep as one: the first to settle a window computes, the others take it over.

A replicated balancer (Zaki, Li, Parthasarathy, section 1.2.1) does the same arithmetic on every member of a
group. On P processors that costs nothing; in one process it costs P times as much. A window cannot close
before every member has closed the one before it, so the latest one of each group is all there is to keep.
Between two windows books do not change, so their attributes are one mapping for all replicas that are as far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

from dlbrt.core.books import BalancingContext, GroupState
from dlbrt.core.decision import Decision
from dlbrt.core.profile import Profile
from dlbrt.core.statement import GroupReport
from dlbrt.core.strategy import DecisionInputs
from dlbrt.dist.spans import Spans
from dlbrt.dist.transfer import Transfer
from dlbrt.records import dataclass

__all__ = ["ReplicatedGroupState"]


@dataclass(frozen=True, slots=True)
class _Settled:
    """A window as it was settled: its number, by what, the books afterwards, the movement."""

    epoch: int
    profiles: tuple[Profile, ...]
    group_state: dict[str, Any]
    transfers: tuple[Transfer, ...]


class _Group:
    """What the replicas of one group have in common: the window that was settled last."""

    def __init__(self) -> None:
        self.settled: _Settled | None = None


class ReplicatedGroupState(GroupState):
    """One of the books of a group; those of all groups have ``known`` in common."""

    def __init__(
        self,
        members: Sequence[int],
        shares: Sequence[Spans],
        context: BalancingContext,
        known: dict[tuple[int, ...], _Group],
    ) -> None:
        super().__init__(members, shares, context)
        self._known = known
        self._group = known.setdefault(self.members, _Group())

    def another(self) -> ReplicatedGroupState:
        """The same for another member."""
        _ = self.estimates  # found once, for all
        replica = ReplicatedGroupState.__new__(ReplicatedGroupState)
        replica.__dict__ = vars(self)
        return replica

    def of(self, members: Sequence[int]) -> ReplicatedGroupState:
        """As `GroupState.of`."""
        part = ReplicatedGroupState(members, (), self.context, self._known)
        vars(part).update(vars(super().of(members)))
        return part

    def merged(
        self, reports: Sequence[GroupReport], context: BalancingContext
    ) -> tuple[GroupState, tuple[int, ...]]:
        """As `GroupState.merged`."""
        found, kept = super().merged(reports, context)
        whole = ReplicatedGroupState(found.members, (), context, self._known)
        vars(whole).update(vars(found))
        return whole, kept

    def settle(
        self, profiles: Sequence[Profile], decide: Callable[[DecisionInputs], Decision | None]
    ) -> tuple[Transfer, ...]:
        """As `GroupState.settle`; ValueError if another replica settled the window by other profiles."""
        known = self._group.settled
        if known is None or known.epoch != self.epoch:
            known = self._group.settled = self._settled(tuple(profiles), decide)
        elif known.profiles is not profiles and known.profiles != tuple(profiles):
            raise ValueError(f"two replicas of {self.members} have other profiles of window {known.epoch}")
        self.__dict__ = known.group_state
        return known.transfers

    def _settled(
        self, profiles: tuple[Profile, ...], decide: Callable[[DecisionInputs], Decision | None]
    ) -> _Settled:
        """The window, settled here first; what others still know of the one before stays as it is."""
        epoch = self.epoch
        self.__dict__ = dict(vars(self))
        self.history, self.windows = copy(self.history), self.windows.copy()
        transfers = super().settle(profiles, decide)
        _ = self.estimates
        return _Settled(epoch, profiles, vars(self), transfers)
