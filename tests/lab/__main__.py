"""The lab's command: runs a program on hosts made in this machine, or says whether that works here.

    python -m tests.lab --hosts 4 --speed 0.2,0.2,0.4,0.4 --rate 10mbit --load 0,0,1,0 -- python prog_dlb.py
    python -m tests.lab --hosts 16 --speed 0.1 --load random:max=5,duration=0.5,seed=7 -- python prog_dlb.py
    python -m tests.lab --check

Settings of the runtime (DLB_STRATEGY and so on) are passed on from the environment.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import TypeVar

from dlbrt.contract import OptionError
from dlbrt.emulation import LoadSpec, parse_load

from tests.lab.host import Host
from tests.lab.lab import Lab, LabError
from tests.lab.load import SIGNAL, Start
from tests.lab.measure import computing_share, link
from tests.lab.requirements import Unavailable, why_not
from tests.support.mpi import TimedOut

_T = TypeVar("_T")

_UNITS = {"": 1.0, "mbit": 1.0, "kbit": 1e-3, "gbit": 1e3}
_TIMED_OUT = 124
_DEFAULT_HOSTS = 4
_CHECKED = Host(cores=0.2, rate_mbit=10)
_CHECKED_LOADS = (0, 1, 3, 5)


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: the program's, 2 for what cannot be done, 124 where the time was up."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.check:
        return _check()
    if not options.command:
        parser.error("expected a command after --, found none; --check needs none")
    try:
        return _run(options)
    except (ValueError, LabError, OptionError, Unavailable) as error:
        parser.error(str(error))
    except TimedOut as error:
        print(error, file=sys.stderr)
        return _TIMED_OUT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.lab", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "--check", action="store_true", help="say whether the lab works here, and how exactly"
    )
    parser.add_argument(
        "--hosts", type=int, help=f"number of hosts ({_DEFAULT_HOSTS}, or as many as are listed)"
    )
    parser.add_argument("--ranks", type=int, help="number of ranks (one a host)")
    parser.add_argument(
        "--speed", default="", help="processors' worth of computing, one for all or one per host"
    )
    parser.add_argument(
        "--rate", default="", help="rate of the links, as 10mbit or 500kbit, one or one per host"
    )
    parser.add_argument(
        "--memory",
        default="",
        help="memory in MiB, one for all or one per host; 0: no limit. The rest is paged",
    )
    parser.add_argument("--load", default="none", help="0,0,1,0 or random:max=5,duration=0.5,seed=7")
    parser.add_argument("--emulated", action="store_true", help="let the runtime emulate the load")
    parser.add_argument(
        "--start",
        choices=[start.value for start in Start],
        default=Start.LAUNCH.value,
        help=f"when the load begins: as the program is launched, or when it writes a line into ${SIGNAL}",
    )
    parser.add_argument("--timeout", type=float, default=600, help="seconds after which everything is killed")
    parser.add_argument("command", nargs="*", help="the command of each rank, after --")
    return parser


def _run(options: argparse.Namespace) -> int:
    speeds, rates = _items(options.speed, float, "--speed"), _items(options.rate, _mbit, "--rate")
    memories = _items(options.memory, float, "--memory")
    listed = max(len(speeds), len(rates), len(memories))
    count = options.hosts if options.hosts is not None else listed if listed > 1 else _DEFAULT_HOSTS
    lists = (speeds, "--speed"), (rates, "--rate"), (memories, "--memory")
    each = zip(*(_spread(items, count, option) for items, option in lists), strict=True)
    hosts = [Host(cores, rate, memory_mb=memory or None) for cores, rate, memory in each]
    load = _load(options.load, count)
    settings = {name: value for name, value in os.environ.items() if name.startswith("DLB_")}
    with Lab(hosts) as lab:
        if lab.placement.busiest > 1:
            _say(f"hosts are slower than asked: a processor is to give {lab.placement.busiest:.2f} of itself")
        done = lab.run(
            options.command,
            ranks=options.ranks,
            env=settings,
            load=load,
            emulated=options.emulated,
            start=Start(options.start),
            timeout=options.timeout,
        )
    sys.stdout.buffer.write(done.stdout)
    sys.stdout.flush()
    sys.stderr.write(done.stderr)
    _say(f"{count} hosts, {done.elapsed_s:.2f} s, status {done.returncode}")
    return done.returncode


def _check() -> int:
    reason = why_not()
    if reason:
        print(f"the lab does not work here: {reason}")
        return 1
    print("the lab works here")
    with Lab([_CHECKED, _CHECKED]) as lab:
        for load in _CHECKED_LOADS:
            promised = (_CHECKED.cores or 0.0) / (load + 1)
            share = computing_share(lab, 0, load, seconds=3).of_processor
            print(
                f"  {_CHECKED.cores} cores, load {load}: {share:.4f} of a processor ({share / promised:.1%})"
            )
        found = link(lab)
        latency = f"latency {found.latency_s * 1e3:.2f} ms"
        print(f"  {_CHECKED.rate_mbit} Mbit/s: {found.rate_mbit:.2f} Mbit/s, {latency}")
    return 0


def _items(text: str, parse: Callable[[str], _T], option: str) -> list[_T]:
    try:
        return [parse(item.strip()) for item in text.split(",")] if text else []
    except ValueError as error:
        raise ValueError(f"{option}: expected numbers separated by commas, found {text!r}") from error


def _spread(items: list[float], count: int, option: str) -> list[float | None]:
    """One value for each host; none given: no limit."""
    if len(items) not in (0, 1, count):
        raise ValueError(f"{option}: expected 1 or {count} values, found {len(items)}")
    return list(items) if len(items) == count else [items[0] if items else None] * count


def _mbit(text: str) -> float:
    found = re.fullmatch(r"([0-9.]+)([a-z]*)", text.lower())
    if not found or found[2] not in _UNITS:
        raise ValueError(text)
    return float(found[1]) * _UNITS[found[2]]


def _load(text: str, hosts: int) -> LoadSpec:
    return parse_load(f"fixed:{text}" if text[:1].isdigit() else text, hosts)


def _say(text: str) -> None:
    print(f"lab: {text}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
