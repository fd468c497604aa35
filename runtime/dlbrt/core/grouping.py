"""The option ``group``: how the groups of a local strategy are formed, and how they go together.

Zaki, Li, Parthasarathy, section 1.2.1, names the ways: K-block, nearest neighbours, at random, nearly equal
aggregate power. An option is a list of words in any order, each at most once: the size K, one kind, flags.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from enum import Enum

from dlbrt.contract import ENVIRONMENT, GROUP_FLAGS, GROUP_KINDS, OptionError, nearest
from dlbrt.core.model.groups import (
    GroupRules,
    Groups,
    at_random,
    blocks,
    by_nearness,
    default,
    equal_speed,
)
from dlbrt.records import dataclass

__all__ = ["GroupKind", "GroupSpec", "parse_group"]

#: Groups at random are the same in every run.
_SEED = 1


class GroupKind(Enum):
    """How groups of a given size are formed."""

    BLOCK = "block"
    RANDOM = "random"
    SPEED = "speed"
    NEAR = "near"


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """What was asked for: the ``size`` of groups and how they are formed (None: not said), and the rules."""

    size: int | None = None
    kind: GroupKind | None = None
    rules: GroupRules = field(default_factory=GroupRules)

    def lacks_speeds(self, speeds: Sequence[float]) -> bool:
        """Whether groups are asked for that need speeds, and none are known."""
        return self.kind is GroupKind.SPEED and not speeds

    def formed(self, hosts: Sequence[str], speeds: Sequence[float], size: int | None = None) -> Groups:
        """The groups of ranks on these hosts; ``size`` goes before the one asked for.

        ``speeds`` are relative, empty where they are not known. If nothing else is said, groups of a given
        size are equally fast where speeds differ, and blocks where they do not.
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
    """What DLB_GROUP asks for, such as ``4,speed,exchange``; OptionError if it is malformed."""
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
