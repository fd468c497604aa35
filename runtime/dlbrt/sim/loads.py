"""Lists with a value a rank, for any number of ranks; and one load after another, for means over many.

A list such as ``fixed:0,3`` or ``1,1,4`` is for as many ranks as it has values. If there are twice as many,
or any other multiple, the list is repeated.
"""

from __future__ import annotations

from dataclasses import replace

from dlbrt.core.load import LoadSpec, parse_cliffs, parse_load, parse_speeds

__all__ = ["load_for", "reseeded", "speeds_for"]

_FIXED = "fixed:"


def load_for(text: str, ranks: int) -> LoadSpec:
    """The load that ``text`` describes (`parse_load`), for so many ranks; OptionError as there."""
    kind = text.strip()
    values = kind.removeprefix(_FIXED)
    return parse_load(_FIXED + _repeated(values, ranks) if values != kind else text, ranks)


def speeds_for(text: str, ranks: int) -> LoadSpec:
    """The emulated speeds and cliffs that ``text`` lists (`parse_speeds`), for so many ranks; OptionError."""
    values = _repeated(text, ranks)
    return LoadSpec(speeds=parse_speeds(values, ranks), cliffs=parse_cliffs(values, ranks))


def reseeded(load: LoadSpec, number: int, ranks: int) -> LoadSpec:
    """The ``number``-th load of the same kind: no two share the draws of a rank. Only random loads differ."""
    if load.random is None:
        return load
    return replace(load, random=replace(load.random, seed=load.random.seed + number * ranks))


def _repeated(values: str, ranks: int) -> str:
    """The list as often as it goes into the ranks; as it is where it does not: others complain of that."""
    times, rest = divmod(ranks, values.count(",") + 1)
    return values if rest or not times else ",".join([values] * times)
