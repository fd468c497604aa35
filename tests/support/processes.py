"""Finding and ending the processes of a test run.

Launchers put ranks into sessions of their own, and a launcher that dies leaves them to process 1, so
neither groups nor parents find them all. Every process inherits its environment: a token in it does.
"""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

__all__ = ["SERVERS", "TOKEN", "Member", "end_all", "heed_signals", "mark", "members", "print_stacks"]

#: The environment variable that marks a run; its value is unique to the run.
TOKEN = "TEST_RUN_TOKEN"

#: The environment variable of processes that have servers fork the programs: it names the servers' directory.
SERVERS = "TEST_RUN_SERVERS"

_RANK_VARIABLES = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")


@dataclass(frozen=True, slots=True)
class Member:
    """A live process of a run; ``rank`` is None for launchers, and for sequential programs but forks."""

    pid: int
    rank: int | None


def members(token: str) -> tuple[Member, ...]:
    """The live processes that carry ``token``, ended ones that nobody has waited for excluded."""
    found = (_member(int(entry.name), token) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return tuple(member for member in found if member is not None)


def mark(token: str, rank: int) -> None:
    """Makes this process, whose environment the kernel shows as it was at its start, a member of a run."""
    Path("/proc/self/comm").write_text(f"{token[:12]}{rank:03}")


def heed_signals() -> None:
    """Has this process, and those that it starts, take signals that a shell has commands in the background
    ignore."""
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def _member(pid: int, token: str) -> Member | None:
    try:
        name = Path(f"/proc/{pid}/comm").read_text().strip()
        raw = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # ended meanwhile, or another user's
        return None
    if name[:12] == token[:12] and raw:
        return Member(pid, int(name[12:]))
    environment = dict(item.split("=", 1) for item in os.fsdecode(raw).split("\0") if "=" in item)
    if environment.get(TOKEN) != token:  # the environment of a zombie reads as empty
        return None
    ranks = [environment[name] for name in _RANK_VARIABLES if name in environment]
    return Member(pid, int(ranks[0]) if ranks and SERVERS not in environment else None)


def print_stacks(token: str, root: int, patience: float = 5.0) -> None:
    """Has each rank of a hanging run (the process ``root`` itself without ranks) print its Python stacks.

    faulthandler prints them on SIGABRT and the rank dies of it. Launchers end the other ranks as soon as
    one dies, so they are stopped first and go on once every rank has had its say.
    """
    run = members(token)
    ranks = [m.pid for m in run if m.rank is not None] or [root]
    launchers = [m.pid for m in run if m.pid not in ranks]
    for pid in ranks:
        with suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))  # no core files in the directory of the test
    _signal(launchers, signal.SIGSTOP)
    _signal(ranks, signal.SIGABRT)
    _wait_until(lambda: not {m.pid for m in members(token)} & set(ranks), patience)
    _signal(launchers, signal.SIGCONT)
    _wait_until(lambda: not members(token), patience)  # launchers pass the stacks on and end


def end_all(token: str, patience: float = 0.0) -> tuple[Member, ...]:
    """Kills what is left of a run after ``patience`` seconds; returns what it had to kill."""
    run: tuple[Member, ...] = ()

    def ended() -> bool:
        nonlocal run
        run = members(token)
        return not run

    _wait_until(ended, patience)
    killed: dict[int, Member] = {}
    while run:
        killed |= {member.pid: member for member in run}
        _signal((member.pid for member in run), signal.SIGKILL)
        time.sleep(0.02)
        run = members(token)  # again, since one of them may just have started another
    return tuple(killed.values())


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _wait_until(condition: Callable[[], bool], patience: float) -> None:
    until = time.monotonic() + patience
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
