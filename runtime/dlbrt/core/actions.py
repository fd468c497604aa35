"""What the balancer asks of its driver."""

from __future__ import annotations

from dataclasses import dataclass

from dlbrt.core.profile import Profile
from dlbrt.dist.transfer import Transfer

__all__ = ["Action", "Exchange", "Finish", "Interrupt", "Move", "Resume"]


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Ask every other rank to synchronize window ``epoch``."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Exchange:
    """Give ``profile`` to the exchange of window ``epoch``, without waiting for it to complete."""

    epoch: int
    profile: Profile


@dataclass(frozen=True, slots=True)
class Move:
    """Move iterations and their data; the list is the same on every rank, and complete."""

    transfers: tuple[Transfer, ...]


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on with the work held."""


@dataclass(frozen=True, slots=True)
class Finish:
    """No iteration is left on any rank."""


Action = Interrupt | Exchange | Move | Resume | Finish
