"""Rounds: the second level of synchronization of a local strategy, among all groups, which exchange work.

The remedy that Zaki, Li and Parthasarathy name for a group that finishes early and idles while another is
overloaded (section 1.2.1, "Global vs. Local"): exchange between groups, and groups formed anew.

Law. Rounds are numbered. A group comes to round r when a window of its own ends and either nothing is left
in it, or a profile of one of its members says that the round is asked for; all members see that alike.
Its lowest rank, the head, then gives the group's statement to all ranks. A rank that has those of all
groups has the picture that every other has: all decide shares by the rule of the strategy, move, and go on in
groups. The loop ends at the round to which no group brings work.

The head of a group that has run out asks for the round, when that pays (`dlbrt.balance.window`), of all ranks
outside, which takes the place of an interrupt there. Asking only hastens what comes in any case.
Termination: each group comes to each round, since the work that it has at the round before is finite and no
other comes in between; and between two rounds at least one unit is done or dropped, since only a group that
had work when the round before was over, and has none left, asks for the next one. A group that a round
leaves without work comes to the next one at once, and waits there for the others.

No message of one round is taken for one of another: a rank takes one statement from each head in each round,
and a word that asks for a round that is over is dropped; one for the next may come early, and is kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from dlbrt.balance.group_state import MAX_WINDOWS, GroupState
from dlbrt.balance.messages import Window
from dlbrt.balance.window import request_time
from dlbrt.predict.groups import Groups, equal_speed


class GroupExchange:
    """What one rank knows of them; ``group_state`` are those of all ranks, before the first round.

    ``number`` is that of the next round, ``arrived`` whether the group has come to it, ``past_windows`` are windows from
    before the last round. With ``dynamic`` each round forms the groups anew.
    """

    def __init__(self, group_state: GroupState, groups: Groups, dynamic: bool, now: float) -> None:
        self.number = 0
        self.groups = groups
        self.arrived = False
        self.past_windows: deque[Window] = deque(maxlen=MAX_WINDOWS)
        self._dynamic = dynamic
        self._context = group_state.context
        self._begin(group_state, now)

    @property
    def leaders(self) -> tuple[int, ...]:
        """The lowest rank of each group."""
        return tuple(group[0] for group in self.groups)

    def outside(self, members: Sequence[int]) -> tuple[int, ...]:
        """The ranks of all other groups."""
        return tuple(rank for group in self.groups for rank in group if rank not in members)

    def request_at(self, group_state: GroupState, now: float, iteration_s: float) -> float | None:
        """When the group of these books, which has run out, asks for the round; None: never."""
        held, _ = self._known[group_state.members]
        if not held:
            return None
        window, others = now - self._began_at, (g for g in self.groups if g != group_state.members)
        due = max(self._due_after(group, window / held) for group in others)
        context = self._context
        return request_time(
            now, self._began_at, self._began_at + due, iteration_s, context.exchange_s, context.parameters
        )

    def complete(self, group_state: GroupState, now: float) -> None:
        """The round has left these books to all ranks; the next one is to come."""
        self.number += 1
        self.arrived = False
        speeds = group_state.history.speeds
        if self._dynamic and speeds is not None:
            size = -(-len(group_state.members) // len(self.groups))
            self.groups = equal_speed(speeds, size)
        self._begin(group_state, now)

    def _begin(self, group_state: GroupState, now: float) -> None:
        """What each group holds, and how much it does a second (None: not known)."""
        speeds, work_table = group_state.history.speeds, group_state.context.work_table
        self._began_at = now
        self._known = {
            group: (
                sum(work_table.of(group_state.share(rank)) for rank in group),
                None if speeds is None else sum(speeds[group_state.place(rank)] for rank in group),
            )
            for group in self.groups
        }

    def _due_after(self, group: tuple[int, ...], unit_s: float) -> float:
        """Seconds from when the round was over; ``unit_s``: what work has taken the group that asks."""
        held, speed = self._known[group]
        return held * unit_s if speed is None else held / speed
