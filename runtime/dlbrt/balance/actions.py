"""Actions: what an agent asks of its driver, and which method of a driver carries out which action.

`Action` lists all of them. A driver has a method for each, named ``_do_`` and the action's name (`Interrupt`:
``_do_interrupt``), and gets its table from `methods_of`, which refuses a driver that lacks a method.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import get_args

from dlbrt.balance.decision import Decision
from dlbrt.balance.messages import GroupReport, Message, Profile
from dlbrt.data.spans import Spans
from dlbrt.data.transfer import Transfer
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Ask the other members of the group to synchronize window ``epoch``."""

    epoch: int
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NotifyFailure:
    """Tell the ranks outside the group that the body failed at ``position``."""

    position: int
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ExchangeProfiles:
    """Give ``profile`` to the members' exchange for window ``epoch``, and do not wait for its end."""

    epoch: int
    profile: Profile
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SendProfile:
    """Send ``profile`` to the balancer on rank ``master``, and do not wait for its instructions."""

    epoch: int
    profile: Profile
    master: int = 0


@dataclass(frozen=True, slots=True)
class SendInstructions:
    """Send a group the central balancer's answer: all its profiles, and the decision taken by them."""

    members: tuple[int, ...]
    profiles: tuple[Profile, ...]
    decision: Decision | None


@dataclass(frozen=True, slots=True)
class Move:
    """Move iterations and their data; the list of transfers is complete, and the same on every member."""

    transfers: tuple[Transfer, ...]


@dataclass(frozen=True, slots=True)
class RequestChoice:
    """On rank 0, after work has moved: choose a strategy (`ChoiceRequested` follows)."""


@dataclass(frozen=True, slots=True)
class AnnounceStrategy:
    """Tell the other ranks which strategy was chosen."""

    strategy: str
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RequestGroupExchange:
    """Ask the ranks of all other groups to come to the group exchange number ``round``."""

    round: int
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SendGroupReport:
    """Send all ranks the group's ``report`` for ``round``, None unless this rank leads the group.

    `GroupReportsReceived` follows, with the reports in the order of ``leaders``, the ranks that send them.
    """

    round: int
    report: GroupReport | None
    leaders: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Send:
    """Send these ranks a message; no rank waits."""

    targets: tuple[int, ...]
    message: Message


@dataclass(frozen=True, slots=True)
class SendWork:
    """Send rank ``target`` units of work with their data; no rank waits."""

    target: int
    units: Spans


@dataclass(frozen=True, slots=True)
class ClaimChunks:
    """Add ``count`` to the counter that all ranks share; `ChunksClaimed` follows with its former value."""

    count: int


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on with the work held."""


@dataclass(frozen=True, slots=True)
class Finish:
    """No iteration is left on any member of the group."""


Action = (
    NotifyFailure
    | AnnounceStrategy
    | RequestChoice
    | Interrupt
    | ExchangeProfiles
    | SendProfile
    | SendInstructions
    | Move
    | RequestGroupExchange
    | SendGroupReport
    | Send
    | SendWork
    | ClaimChunks
    | Resume
    | Finish
)

#: What an agent answers an event with: actions, to be carried out in order.
Answer = tuple[Action, ...]


def methods_of(driver: object) -> Mapping[type, Callable[..., None]]:
    """Kind of action -> the method of ``driver``, a class or an instance; TypeError names missing methods."""
    names = {kind: f"_do{re.sub('(?=[A-Z])', '_', kind.__name__).lower()}" for kind in get_args(Action)}
    if missing := [name for name in names.values() if not hasattr(driver, name)]:
        raise TypeError(f"expected a method of {driver} for each action, found no {', '.join(missing)}")
    return {kind: getattr(driver, name) for kind, name in names.items()}
