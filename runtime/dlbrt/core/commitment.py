"""How all ranks come to go on by a strategy that is chosen while the loop runs, as one of them sees it.

Law. Rank 0 chooses after a synchronization of all ranks (Zaki et al., section 1.3.3: not before the first),
while the others work. No rank takes part in another synchronization before it has heard. The choice may come
first, where the exchange has not completed here as it has on rank 0; it is kept then, and so are words of
ranks that have gone over already to a strategy without synchronizations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dlbrt.core.agent import PeerStrategy
from dlbrt.core.books import GroupState
from dlbrt.core.events import Received, WorkReceived
from dlbrt.core.pace import SpeedTrace
from dlbrt.core.profile import Profile
from dlbrt.core.strategy import Strategy

__all__ = ["ChoiceRule", "StrategyCommitment"]

#: At a synchronization of all ranks: the strategy to commit to, by the books and the profiles.
ChoiceRule = Callable[[GroupState, Sequence[Profile]], Strategy | PeerStrategy]


class StrategyCommitment:
    """What one rank knows of it; ``commit`` is asked at rank 0, None: all is as it was at the start.

    While ``awaited``, a strategy is being chosen. ``speed_trace`` is how this rank's speed has gone, as long as that
    may matter; ``words`` are for the agent that is to take over.
    """

    def __init__(self, commit: ChoiceRule | None) -> None:
        self.awaited = False
        self.speed_trace = SpeedTrace() if commit else None
        self.words: list[Received | WorkReceived] = []
        self._commit = commit
        self._announced: Strategy | PeerStrategy | None = None
        self._profiles: Sequence[Profile] = ()

    @property
    def open(self) -> bool:
        """Whether a strategy is chosen at the next synchronization, or is being chosen."""
        return self._commit is not None

    def begin(self, profiles: Sequence[Profile]) -> Strategy | PeerStrategy | None:
        """A synchronization by these profiles is over: the choice is awaited, or known already."""
        self.awaited, self._profiles = True, profiles
        return self._announced

    def choose(self, group_state: GroupState) -> Strategy | PeerStrategy:
        """The choice, at rank 0; ValueError where none is to be made."""
        if self._commit is None or not self.awaited:
            raise ValueError(f"there is no strategy to choose in window {group_state.epoch}")
        return self._commit(group_state, self._profiles)

    def announce(self, chosen: Strategy | PeerStrategy) -> bool:
        """Rank 0 has chosen; whether this rank goes on by it at once."""
        if not self.awaited:
            self._announced = chosen
        return self.awaited

    def made(self) -> None:
        """This rank goes on by the choice."""
        self.awaited, self._announced = False, None

    def close(self) -> None:
        """There will be no other."""
        self._commit = self.speed_trace = None
