"""The settings under which a program runs on ranks, and the one that the default tier takes."""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from tests.support.tier import is_full

RANDOM_LOAD = {"DLB_LOAD": "random:max=3,duration=0.002,seed=4", "DLB_SPEEDS": "2,1,1.5"}
#: Numbers of ranks, each with variables of the runtime.
RUNS: list[tuple[int, dict[str, str]]] = [
    *((ranks, {"DLB_STRATEGY": strategy}) for strategy in ("none", "GDDLB") for ranks in (1, 2, 3, 5)),
    (3, {"DLB_STRATEGY": "GCDLB"} | RANDOM_LOAD),
    (2, {"DLB_STRATEGY": "LCDLB"}),
    (5, {"DLB_STRATEGY": "LCDLB"}),
    (3, {"DLB_STRATEGY": "LDDLB", "DLB_GROUP": "2"} | RANDOM_LOAD),
    (4, {"DLB_STRATEGY": "LDDLB"}),
    (3, {"DLB_STRATEGY": "GDDLB"} | RANDOM_LOAD),
    (3, {"DLB_STRATEGY": "none"} | RANDOM_LOAD),
    (2, {"DLB_STRATEGY": "SS"}),
    (3, {"DLB_STRATEGY": "GSS"} | RANDOM_LOAD),
    (5, {"DLB_STRATEGY": "FAC2"}),
    (3, {"DLB_STRATEGY": "AF"} | RANDOM_LOAD),
    (4, {"DLB_STRATEGY": "AWF_C"}),
    (2, {"DLB_STRATEGY": "steal"}),
    (5, {"DLB_STRATEGY": "steal"}),
    (3, {"DLB_STRATEGY": "steal"} | RANDOM_LOAD),
    (3, {"DLB_STRATEGY": "diffusion"} | RANDOM_LOAD),
    (5, {"DLB_STRATEGY": "diffusion"}),
    (2, {"DLB_WEIGHTS": "1,3"}),
    (2, {}),
]


def chosen(name: str) -> int:
    """The setting of a program where it runs under one: by a hash that is the same each time."""
    return zlib.crc32(name.encode()) % len(RUNS)


def each_under_some(names: Iterable[str], one_in: int) -> list[tuple[str, int]]:
    """Each name with some of the settings; in the default tier with the one that is `chosen` for it."""
    return [
        (name, number) for name in names for number in (some(name, one_in) if is_full() else [chosen(name)])
    ]


def some(name: str, one_in: int) -> list[int]:
    """One in so many settings, that which is `chosen` among them."""
    return list(range(chosen(name) % one_in, len(RUNS), one_in))
