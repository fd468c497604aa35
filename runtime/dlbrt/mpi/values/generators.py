"""The global random generators of Python and numpy, one in each module, and their states; numpy's seeds.

Where each iteration seeds such a generator before it draws, its state belongs to the iteration: after the
loop it is that of the last one, as a temporary would be. Programs often have a seed for each iteration
(`SeedSequence.spawn`), so these are known here, and are not taken apart as objects of any class are.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, repeat
from operator import attrgetter
from typing import Any

import numpy as np

from dlbrt.records import dataclass
from dlbrt.reductions.operations import IMMUTABLE

#: The modules that have a global generator.
GENERATORS = ("random", "numpy.random")

#: Where each has it, by the name of the generator's class.
_PLACES = {"Random": ("random", "_inst"), "RandomState": ("numpy.random.mtrand", "_rand")}

#: The module of numpy's `SeedSequence`.
SEEDS = "numpy.random.bit_generator"

_ENTROPY, _SPAWN_KEY, _POOL = attrgetter("entropy"), attrgetter("spawn_key"), attrgetter("pool")
_SPAWNED, _POOL_SIZE = attrgetter("n_children_spawned"), attrgetter("pool_size")
_NUMBERS = attrgetter("entropy", "spawn_key", "n_children_spawned", "pool_size")


def states(generators: Iterable[str] = GENERATORS) -> dict[str, Any]:
    """The state of each generator whose module is loaded, under a name that no variable has."""
    loaded = {name: module for name in generators if (module := sys.modules.get(name)) is not None}
    return {
        key_of(name): _state_of_numpy(module) if name == "numpy.random" else module.getstate()
        for name, module in loaded.items()
        if hasattr(module, "getstate") or name == "numpy.random"
    }


def _state_of_numpy(module: Any) -> Any:
    return module.get_state(legacy=not is_replaced(["numpy.random"]))


def restore(generator: str, state: Any) -> None:
    """Set a generator to a state that `states` gave."""
    module = sys.modules[generator]
    module.set_state(state) if generator == "numpy.random" else module.setstate(state)


def is_replaced(generators: Iterable[str]) -> bool:
    """Whether one of these is numpy's, and the program has given it a bit generator of another kind.

    The other ranks have the one that numpy begins with, which draws other numbers from the same seed.
    """
    module = sys.modules.get("numpy.random") if "numpy.random" in generators else None
    bits = getattr(module, "get_bit_generator", None)  # as old as `set_bit_generator`
    return bits is not None and type(bits()).__name__ != "MT19937"


def key_of(generator: str) -> str:
    """The name under which the state of a generator is kept."""
    return f"the state of {generator}"


def reduction_of_global(value: Any) -> tuple[Any, ...] | None:
    """The reduction of a global generator, by its name; None for anything else.

    Names for it (``from random import choice``) lead on each rank to its own, as ``random.choice`` does. Its
    state is watched there.
    """
    module, name = _PLACES.get(type(value).__name__, ("", ""))
    if module not in sys.modules or vars(sys.modules[module]).get(name) is not value:
        return None
    return getattr, (sys.modules[module], name)


def is_seed(value: Any) -> bool:
    """Whether it is a `SeedSequence` of numpy's that consists of numbers alone."""
    if not _is_kind_of_seeds(type(value)):
        return False
    return type(value.entropy) in IMMUTABLE and IMMUTABLE.issuperset(map(type, value.spawn_key))


def are_seeds(values: Collection[Any]) -> bool:
    """Whether there are any, and each is a seed, as `is_seed` says.

    Programs have a seed for each iteration, so this looks at many values at once.
    """
    kinds = set(map(type, values))
    if len(kinds) != 1 or not is_seed(next(iter(values))):
        return False
    parts = chain(map(_ENTROPY, values), chain.from_iterable(map(_SPAWN_KEY, values)))
    return IMMUTABLE.issuperset(map(type, parts))


def holds_seeds(value: Any) -> bool:
    """Whether it is a seed or a number, or a list, tuple or array of nothing else.

    Of these numpy makes new generators. It gives back a generator that it is handed.
    """
    if type(value) is np.ndarray:
        return not value.dtype.hasobject
    kinds = set(map(type, value)) if type(value) in (list, tuple) else {type(value)}
    return all(map(_is_kind_of_seeds, kinds - IMMUTABLE))


def _is_kind_of_seeds(kind: type) -> bool:
    return kind.__name__ == "SeedSequence" and kind.__module__ == SEEDS


def pools_of(seeds: Iterable[Any]) -> Iterator[Any]:
    """The array that each seed has."""
    return map(_POOL, seeds)


@dataclass(frozen=True, slots=True)
class SeedColumns:
    """Many seeds by what they consist of, which takes a tenth of the time that it takes to pickle each.

    ``make`` and ``arguments`` are numpy's way to make one. Each column has a value for each seed, or one for
    all; of ``pools``, which all have ``size`` numbers, the bytes follow each other.
    """

    make: Callable[..., Any]
    arguments: tuple[Any, ...]
    entropies: list[Any]
    spawned: list[int]
    pools: bytes
    size: int
    spawn_keys: list[tuple[Any, ...]]

    def seeds(self) -> list[Any]:
        """The seeds; each has memory of its own for its pool."""
        rows = np.frombuffer(self.pools, np.uint32).reshape(-1, self.size)
        entropies, spawned, keys = (
            column * len(rows) if len(column) == 1 else column
            for column in (self.entropies, self.spawned, self.spawn_keys)
        )
        states = zip(entropies, spawned, map(np.ndarray.copy, rows), repeat(self.size), keys)
        return list(map(partial(self.make, *self.arguments), states))


def columns_of(seeds: Sequence[Any]) -> SeedColumns | None:
    """The columns of seeds, of which there are some; None where numpy pickles them in another way."""
    first = seeds[0]
    sizes = set(map(_POOL_SIZE, seeds))
    match first.__reduce_ex__(pickle.HIGHEST_PROTOCOL):
        case (make, (kind, number, None), (entropy, spawned, pool, size, spawn_key)):
            pass
        case _:
            return None
    known = (entropy, spawn_key, spawned, size) == _NUMBERS(first) and pool is first.pool
    pools = b"".join(map(_POOL, seeds))
    if not known or len(sizes) > 1 or len(pools) != size * len(seeds) * np.dtype(np.uint32).itemsize:
        return None
    entropies, counts, keys = (_column(each, seeds) for each in (_ENTROPY, _SPAWNED, _SPAWN_KEY))
    return SeedColumns(make, (kind, number), entropies, counts, pools, size, keys)


def _column(getter: Callable[[Any], Any], seeds: Sequence[Any]) -> list[Any]:
    values = list(map(getter, seeds))
    return values[:1] if len(set(map(id, values))) == 1 else values


def state_of_seeds(seeds: Collection[Any]) -> bytes:
    """All that these consist of."""
    return pickle.dumps([*map(_NUMBERS, seeds), b"".join(pools_of(seeds))])


def state_of_seed(seed: Any) -> tuple[Any, ...]:
    """All that a `SeedSequence` consists of."""
    return seed.entropy, seed.spawn_key, seed.n_children_spawned, seed.pool.tobytes()
