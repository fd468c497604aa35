"""Random settings of a run: ranks, strategy, groups, emulated load and speeds, weights. Same seed, same run.

Load and unequal speeds are what makes work move: a slow rank's iterations go to the others at the next
synchronization. They slow the program too, so they are bounded by how long it takes.
"""

from __future__ import annotations

import math
import random
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from dlbrt.contract import AVAILABLE, ENVIRONMENT, GROUP_FLAGS, GROUP_KINDS, HISTORIES

from dlbc.commands.run import malformed

#: The load that a rank has at most, and the seconds that a run may take by it.
_MOST_LOAD = 200
_SLOWED_S = 10.0
#: By what factor the fastest and the slowest processor may differ.
_UNEQUAL = (2.0, 8.0, 50.0)


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The number of ranks, and options of `dlbc run` by name."""

    ranks: int
    options: dict[str, str]

    @property
    def variables(self) -> dict[str, str]:
        """The options as environment variables."""
        return {ENVIRONMENT[name]: value for name, value in self.options.items()}

    def __str__(self) -> str:
        words = (
            f"--{name}" if name == "adapt" else f"--{name} {shlex.quote(v)}"
            for name, v in self.options.items()
        )
        return " ".join([f"-n {self.ranks}", *words])


def most_load(sequential_s: float) -> int:
    """The highest load for a program that takes so long alone."""
    return max(0, min(_MOST_LOAD, int(_SLOWED_S / max(sequential_s, 1e-3)) - 1))


def rank_count(seed: int, ranks: Sequence[int]) -> int:
    """The number of ranks of the run with this seed; successive seeds take the numbers in turn."""
    return ranks[seed % len(ranks)]


def draw(seed: int, ranks: Sequence[int], highest_load: int) -> RunSettings:
    """The settings of the run with this seed."""
    generator = random.Random(seed)
    count = rank_count(seed, ranks)
    while True:
        options = _options(generator, count, highest_load)
        found = RunSettings(count, options)
        if not malformed(found.variables, count):
            return found


def _options(generator: random.Random, ranks: int, highest_load: int) -> dict[str, str]:
    strategy = generator.choice(AVAILABLE)
    options = {"strategy": strategy}
    if strategy.startswith("L") and generator.random() < 0.7:
        options["group"] = _group(generator, ranks)
    if strategy == "auto" and generator.random() < 0.3:
        options["adapt"] = "1"
    if generator.random() < 0.2:
        options["history"] = HISTORIES[1]
    slower = 1.0
    if generator.random() < 0.5:
        slower = min(generator.choice(_UNEQUAL), highest_load + 1.0)
        options["speeds"] = ",".join(f"{_between(generator, 1, slower):.3g}" for _ in range(ranks))
    if load := _load(generator, ranks, int((highest_load + 1) / slower) - 1):
        options["load"] = load
    if generator.random() < 0.3:
        options["weights"] = ",".join(f"{_between(generator, 1, 8):.3g}" for _ in range(ranks))
    return options


def _load(generator: random.Random, ranks: int, highest: int) -> str:
    """A load for each rank, a random one, or empty: none."""
    kind = generator.choice(("", "fixed", "fixed", "random", "random"))
    if highest < 1:
        return ""
    if kind == "fixed":
        return "fixed:" + ",".join(str(int(_between(generator, 1, highest + 1)) - 1) for _ in range(ranks))
    if kind == "random":
        most = int(_between(generator, 1, highest))
        duration = _between(generator, 1e-3, 0.1)
        return f"random:max={most},duration={duration:.2g},seed={generator.randrange(1000)}"
    return ""


def _group(generator: random.Random, ranks: int) -> str:
    words = [str(generator.randint(1, ranks))] if generator.random() < 0.7 else []
    words += [generator.choice(GROUP_KINDS)] if generator.random() < 0.5 else []
    words += [flag for flag in GROUP_FLAGS if generator.random() < 0.3]
    return ",".join(words or [GROUP_KINDS[0]])


def _between(generator: random.Random, low: float, high: float) -> float:
    """A number between both that is as likely to be in one octave as in another."""
    return low * math.exp(generator.random() * math.log(high / low))
