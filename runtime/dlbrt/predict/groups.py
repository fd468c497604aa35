"""Which ranks balance together: partitions of the ranks for the local strategies, and the option ``group``.

Zaki, Li, Parthasarathy, section 1.2.1: groups of K by blocks of ranks, by physical proximity, at random, or,
where processors have different speeds, with nearly equal aggregate computational power. P ranks make ceil(P /
K) groups. Their sizes differ by at most one, since a rank left alone in a last group could not balance. A
group lists its ranks in increasing order, and groups come in the order of their first ranks.

An option is a list of words in any order, each at most once: the size K, one kind of groups, flags.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import field
from enum import Enum
from itertools import accumulate, pairwise

from dlbrt.contract import ENVIRONMENT, GROUP_FLAGS, GROUP_KINDS, OptionError, nearest
from dlbrt.data.layout import equal_counts
from dlbrt.records import dataclass

Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class GroupRules:
    """How groups work together, beyond what the paper built.

    ``masters``: a central balancer in each group, its lowest rank, in place of rank 0 for all. ``exchange``:
    a group that has run out gets work from the others. ``dynamic``: likewise, and groups are formed anew
    then.
    """

    masters: bool = False
    exchange: bool = False
    dynamic: bool = False

    @property
    def rounds(self) -> bool:
        """Whether groups exchange work."""
        return self.exchange or self.dynamic


def blocks(ranks: int, size: int) -> Groups:
    """K-block: neighbouring ranks, at most ``size`` a group. ValueError for sizes or ranks below 1."""
    return _dealt(range(ranks), _sizes(ranks, size))


def by_host(hosts: Sequence[Hashable]) -> Groups:
    """The ranks of each host; ``hosts[r]`` is where rank r runs."""
    found: dict[Hashable, list[int]] = {}
    for rank, host in enumerate(hosts):
        found.setdefault(host, []).append(rank)
    return tuple(map(tuple, found.values()))


def default(hosts: Sequence[Hashable]) -> Groups:
    """By host; two halves where all ranks run on one host."""
    found = by_host(hosts)
    return found if len(found) > 1 else blocks(len(hosts), (len(hosts) + 1) // 2)


def equal_speed(speeds: Sequence[float], size: int) -> Groups:
    """Nearly equal aggregate speed: from the fastest rank on, each joins the slowest group with room."""
    sizes = _sizes(len(speeds), size)
    members: list[list[int]] = [[] for _ in sizes]
    power = [0.0] * len(sizes)
    for rank in sorted(range(len(speeds)), key=lambda rank: -speeds[rank]):
        room = [g for g, group in enumerate(members) if len(group) < sizes[g]]
        chosen = min(room, key=lambda g: power[g])
        members[chosen].append(rank)
        power[chosen] += speeds[rank]
    return _ordered(members)


def at_random(ranks: int, size: int, seed: int) -> Groups:
    """Chosen at random: the same for the same seed."""
    from random import Random

    order = list(range(ranks))
    Random(seed).shuffle(order)
    return _ordered(_dealt(order, _sizes(ranks, size)))


def by_nearness(distances: Sequence[Sequence[float]], size: int) -> Groups:
    """Nearest neighbours: the lowest free rank, then repeatedly the rank nearest to the group.

    ``distances[a][b]`` is any measure, such as the latency; ranks equally near come in order. ValueError
    where the matrix is not square.
    """
    ranks = len(distances)
    if any(len(row) != ranks for row in distances):
        raise ValueError(f"expected {ranks} distances for each of {ranks} ranks")
    free = dict.fromkeys(range(ranks))
    members = []
    for count in _sizes(ranks, size):
        group = [next(iter(free))]
        del free[group[0]]
        apart = {rank: distances[group[0]][rank] for rank in free}
        while len(group) < count:
            nearest = min(apart, key=apart.__getitem__)
            group.append(nearest)
            del free[nearest], apart[nearest]
            for rank in apart:
                apart[rank] += distances[nearest][rank]
        members.append(group)
    return _ordered(members)


def _sizes(ranks: int, size: int) -> tuple[int, ...]:
    if ranks < 1 or size < 1:
        raise ValueError(f"expected at least 1 rank in groups of at least 1, found {ranks} and {size}")
    return equal_counts(ranks, -(-ranks // size))


def _dealt(order: Sequence[int], sizes: Sequence[int]) -> Groups:
    return tuple(tuple(order[a:b]) for a, b in pairwise(accumulate(sizes, initial=0)))


def _ordered(members: Sequence[Sequence[int]]) -> Groups:
    return tuple(sorted(tuple(sorted(group)) for group in members))


#: Random groups are the same in every run.
_SEED = 1


class GroupKind(Enum):
    """How groups of a given size are formed."""

    BLOCK = "block"
    RANDOM = "random"
    SPEED = "speed"
    NEAR = "near"


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """The requested ``size`` of groups and how they are formed (None: not requested), and the rules."""

    size: int | None = None
    kind: GroupKind | None = None
    rules: GroupRules = field(default_factory=GroupRules)

    def lacks_speeds(self, speeds: Sequence[float]) -> bool:
        """Whether the requested groups need speeds, and none are known."""
        return self.kind is GroupKind.SPEED and not speeds

    def formed(self, hosts: Sequence[str], speeds: Sequence[float], size: int | None = None) -> Groups:
        """The groups of ranks on these hosts; ``size`` overrides the requested size.

        ``speeds`` are relative, empty where they are not known. Where no kind is requested, groups of a given
        size are equally fast if speeds differ, and blocks if they do not.
        """
        ranks, wanted_size = len(hosts), size or self.size
        if wanted_size is None and self.kind is None:
            return default(hosts)
        count = min(wanted_size or -(-ranks // 2), ranks)
        match self.kind or (GroupKind.SPEED if len(set(speeds)) > 1 else GroupKind.BLOCK):
            case GroupKind.RANDOM:
                return at_random(ranks, count, _SEED)
            case GroupKind.NEAR:
                return by_nearness([[float(here != there) for there in hosts] for here in hosts], count)
            case GroupKind.SPEED if speeds:
                return equal_speed(speeds, count)
        return blocks(ranks, count)


def parse_group(text: str, ranks: int) -> GroupSpec:
    """What DLB_GROUP requests, such as ``4,speed,exchange``; OptionError if it is malformed."""
    size: int | None = None
    kind: GroupKind | None = None
    flags: set[str] = set()
    for word in map(str.strip, text.split(",")):
        if word in GROUP_FLAGS and word not in flags:
            flags.add(word)
        elif word in GROUP_KINDS and kind is None:
            kind = GroupKind(word)
        elif re.fullmatch(r"0*[1-9][0-9]{0,8}", word) and int(word) <= ranks and size is None:
            size = int(word)
        else:
            raise OptionError(_expected(word, text, ranks))
    return GroupSpec(size, kind, GroupRules(**dict.fromkeys(flags, True)))


def _expected(word: str, text: str, ranks: int) -> str:
    hint = nearest(word, (*GROUP_KINDS, *GROUP_FLAGS))
    where = "" if word == text.strip() else f" in {text.strip()!r}"
    return (
        f"{ENVIRONMENT['group']} (--group): expected an integer from 1 to {ranks}, the number of ranks, "
        f"one of {', '.join(GROUP_KINDS)}, some of {', '.join(GROUP_FLAGS)}, with commas between them and "
        f"nothing twice; found {word!r}{where}{hint}"
    )
