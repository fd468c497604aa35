"""What temporaries hold after a loop.

A temporary ends as the last iteration that set it left it; after an exception, as the last one before the
failing one did. Which iteration that is shows only at the end, so a rank remembers what it has left by
region, a stretch of consecutive positions that the rank did. Within a region only its end can matter: an
iteration that fails ends the stretch it is in. So there are as many entries as the work had pieces
(`Temporaries`).
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from dlbrt.records import dataclass
from dlbrt.reductions.contributions import UNSET

#: For a temporary, the end of the run that set it and the value, for each region; the greatest end last.
Kept = tuple[tuple[int, Any], ...]


@dataclass(slots=True)
class _Region:
    """Positions ``first`` to ``last``; ``values``: by name, the end of the run that set it, and its value.

    Where the last position ``failed``, the region does not grow upwards.
    """

    first: int
    last: int
    values: dict[str, tuple[int, Any]]
    failed: bool = False


_last_position = attrgetter("last")


class Temporaries:
    """What one rank's iterations have left in temporaries that the program reads afterwards."""

    def __init__(self) -> None:
        self._regions: list[_Region] = []

    def keep(
        self, run: range, values: Mapping[str, Any], *, dealt: bool = False, failed: bool = False
    ) -> None:
        """Remember the ``values`` that a run has left; `UNSET` stands for a name that no iteration has set.

        Of iterations ``dealt`` in turn, between which lie those of other ranks, only the last one's values
        are remembered. Where the last iteration of the run has ``failed``, the loop may end there.
        """
        if not run:
            return
        left = {name: (run[-1], value) for name, value in values.items() if value is not UNSET}
        new = _Region(run[0], run[-1], left, failed)
        place = bisect(self._regions, new.last, key=_last_position)
        near = slice(None) if dealt else slice(max(0, place - 1), place + 1)
        apart = [region for region in self._regions[near] if not self._joined(region, new, dealt)]
        self._regions[near] = sorted([*apart, new], key=_last_position)

    def kept(self, *, everything: bool) -> dict[str, Kept]:
        """By name, what the regions left; unless ``everything`` is wanted, only the last of them."""
        found: dict[str, list[tuple[int, Any]]] = {}
        for region in self._regions:
            for name, entry in region.values.items():
                found.setdefault(name, []).append(entry)
        return {name: tuple(entries if everything else entries[-1:]) for name, entries in found.items()}

    def _joined(self, region: _Region, new: _Region, dealt: bool) -> bool:
        """Merge a region into the new one if they meet; where both set a name, the later value counts."""
        if not dealt and region.last + 1 != new.first and new.last + 1 != region.first:
            return False
        earlier, later = (region, new) if region.last < new.last else (new, region)
        if earlier.failed:
            return False
        for name, entry in region.values.items():
            if name not in new.values or entry[0] > new.values[name][0]:
                new.values[name] = entry
        new.first, new.last, new.failed = min(region.first, new.first), later.last, later.failed
        return True
