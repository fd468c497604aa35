"""What iterations leave in temporaries that the program reads afterwards.

A temporary ends as the last iteration that set it left it; after an exception, as the last one before
the failing one did. Which that is shows when all is over, so a rank remembers what it has left by region, a
stretch of positions without a gap all of which it did. Within a region nothing but its end can be asked
for: an iteration that fails ends the stretch it is in. So there are as many entries as the work had pieces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dlbrt.effects.contributions import UNSET
from dlbrt.records import dataclass

__all__ = ["Kept", "Temporaries"]

#: For a temporary, the ends of runs that set it, and what they left, one for a region; the greatest last.
Kept = tuple[tuple[int, Any], ...]


@dataclass(slots=True)
class _Region:
    """Positions ``first`` to ``last``, and what they left: by name the end of the run that set it, the value.

    Where the last one ``failed``, nothing above belongs to it.
    """

    first: int
    last: int
    values: dict[str, tuple[int, Any]]
    failed: bool = False


class Temporaries:
    """What one rank's iterations have left."""

    def __init__(self) -> None:
        self._regions: list[_Region] = []

    def keep(
        self, run: range, values: Mapping[str, Any], *, dealt: bool = False, failed: bool = False
    ) -> None:
        """A run has ended and left these; `UNSET` is what none of its iterations has set.

        Of ``dealt`` iterations, between which lie others', only what the last has left is remembered.
        Where the last one of the run has ``failed``, it may be the end of all.
        """
        if not run:
            return
        left = {name: (run[-1], value) for name, value in values.items() if value is not UNSET}
        new = _Region(run[0], run[-1], left, failed)
        self._regions = [region for region in self._regions if not self._joined(region, new, dealt)]
        self._regions.append(new)
        self._regions.sort(key=lambda region: region.last)

    def kept(self, *, everything: bool) -> dict[str, Kept]:
        """By name, what the regions left; where not everything is wanted, the last of them."""
        found: dict[str, list[tuple[int, Any]]] = {}
        for region in self._regions:
            for name, entry in region.values.items():
                found.setdefault(name, []).append(entry)
        return {name: tuple(entries if everything else entries[-1:]) for name, entries in found.items()}

    def _joined(self, region: _Region, new: _Region, dealt: bool) -> bool:
        """Take a region into the new one if they meet; of a name that both set the later counts."""
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
