"""The central balancer: it takes the profiles of each group, decides for it, and instructs its members.

``GCDLB`` has one group of all ranks, ``LCDLB`` several, which one balancer serves in turn (Zaki et al.,
section 1.2.1): a group whose profiles are complete while another is being served waits, which is the delay
factor of the model; with a master in each group there is a balancer for each. The center keeps replicas of
the groups' books, so that it knows who holds what.
"""

from __future__ import annotations

from collections.abc import Sequence

from dlbrt.core.actions import Instruct
from dlbrt.core.books import Books
from dlbrt.core.decision import Decision
from dlbrt.core.profile import Profile
from dlbrt.core.strategy import Situation, Strategy, leave

__all__ = ["Center"]


class Center:
    """The balancer of the groups whose ``books`` are given, by the rule of a central ``strategy``."""

    def __init__(self, books: Sequence[Books], strategy: Strategy) -> None:
        self._strategy = strategy
        self._books = {rank: each for each in books for rank in each.members}
        self._profiles: dict[int, Profile] = {}
        self._missing = {each.members[0]: len(each.members) for each in books}  # of each group that is served

    @property
    def finished(self) -> bool:
        """Whether every group has been told that it has nothing left, one that never had anything too."""
        return not self._missing

    def serves(self, rank: int) -> bool:
        """Whether it waits for profiles of this rank: not of one whose group has gone to a round."""
        return rank in self._books and self._books[rank].members[0] in self._missing

    def report(self, rank: int, profile: Profile) -> tuple[Instruct, ...]:
        """A member's profile has come; the last one of its group settles the window.

        ValueError for a second profile of a member in one window.
        """
        if rank in self._profiles:
            raise ValueError(f"rank {rank} gave two profiles in one window")
        self._profiles[rank] = profile
        books = self._books[rank]
        head = books.members[0]
        self._missing[head] -= 1
        if self._missing[head]:
            return ()
        self._missing[head] = len(books.members)
        profiles = tuple(self._profiles.pop(member) for member in books.members)
        taken: list[Decision | None] = [None]

        def decide(situation: Situation) -> Decision | None:
            taken[0] = self._strategy.decide(situation)
            return taken[0]

        regroups = any(profile.regroups for profile in profiles)
        books.settle(profiles, leave if regroups else decide)
        if regroups or not any(books.shares):
            del self._missing[head]
        return (Instruct(books.members, profiles, taken[0]),)
