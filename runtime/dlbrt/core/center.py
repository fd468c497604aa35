"""The central balancer: it takes the profiles of each group, decides for it, and instructs its members.

``GCDLB`` has one group of all ranks, ``LCDLB`` several, which one balancer serves in turn (Zaki et al.,
section 1.2.1): a group whose profiles are complete while another is being served waits, which is the delay
factor of the model; with a master in each group there is a balancer for each. The center keeps replicas of
the groups' books, so that it knows who holds what.
"""

from __future__ import annotations

from collections.abc import Sequence

from dlbrt.core.actions import SendInstructions
from dlbrt.core.books import GroupState
from dlbrt.core.decision import Decision
from dlbrt.core.profile import Profile
from dlbrt.core.strategy import DecisionInputs, Strategy, defer_to_exchange

__all__ = ["CentralBalancer"]


class CentralBalancer:
    """The balancer of the groups whose ``group_states`` are given, by the rule of a central ``strategy``."""

    def __init__(self, group_states: Sequence[GroupState], strategy: Strategy) -> None:
        self._strategy = strategy
        self._group_states = {rank: each for each in group_states for rank in each.members}
        self._profiles: dict[int, Profile] = {}
        self._missing = {
            each.members[0]: len(each.members) for each in group_states
        }  # of each group that is served

    @property
    def finished(self) -> bool:
        """Whether every group has been told that it has nothing left, one that never had anything too."""
        return not self._missing

    def awaits(self, rank: int) -> bool:
        """Whether it waits for profiles of this rank: not of one whose group has gone to a round."""
        return rank in self._group_states and self._group_states[rank].members[0] in self._missing

    def report(self, rank: int, profile: Profile) -> tuple[SendInstructions, ...]:
        """A member's profile has come; the last one of its group settles the window.

        ValueError for a second profile of a member in one window.
        """
        if rank in self._profiles:
            raise ValueError(f"rank {rank} gave two profiles in one window")
        self._profiles[rank] = profile
        group_states = self._group_states[rank]
        head = group_states.members[0]
        self._missing[head] -= 1
        if self._missing[head]:
            return ()
        self._missing[head] = len(group_states.members)
        profiles = tuple(self._profiles.pop(member) for member in group_states.members)
        taken: list[Decision | None] = [None]

        def decide(decision_inputs: DecisionInputs) -> Decision | None:
            taken[0] = self._strategy.decide(decision_inputs)
            return taken[0]

        requests_exchange = any(profile.requests_exchange for profile in profiles)
        group_states.settle(profiles, defer_to_exchange if requests_exchange else decide)
        if requests_exchange or not any(group_states.shares):
            del self._missing[head]
        return (SendInstructions(group_states.members, profiles, taken[0]),)
