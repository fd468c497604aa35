"""What a loop leaves behind: the loop variable, the temporaries, and the exception of its body."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dlbrt.data.space import Space, space_of
from dlbrt.mpi.failure import Failure, raise_as_in_body
from dlbrt.mpi.perform import RankResult, SentValue
from dlbrt.mpi.temporaries import Kept
from dlbrt.mpi.values.generators import key_of, restore
from dlbrt.mpi.values.objects import RootObjects
from dlbrt.records import dataclass
from dlbrt.reductions.operations import RefusedOperandError
from dlbrt.reductions.replay import ReplayFailure


class LoopResult:
    """The final values of a loop, as the sequential program leaves them.

    ``values`` are those that iterations contributed to; ``fault`` is the failure met when they were combined;
    ``note`` is added to the exception. ``"t" in result`` says whether an iteration set the temporary t,
    ``result["t"]`` is its value, ``result["total"]`` that of a reduction (its old value if the loop had no
    iteration).
    """

    def __init__(
        self,
        space: Space,
        results: Iterable[RankResult],
        values: Mapping[str, Any],
        fault: ReplayFailure | None = None,
        objects: RootObjects | None = None,
    ) -> None:
        results = list(results)
        failures = [result.failure for result in results if result.failure]
        self.note = ""
        self.interrupted = False  # from the keyboard, when all iterations were done
        self._space = space
        self._objects = objects or RootObjects()
        self.failure = min(failures, key=lambda failure: failure.position, default=None)
        if fault is not None:
            # Contributions are combined after the loop, but the sequential program had stopped there.
            self.failure = _combined(fault, self.failure, self._objects)
        latest = _latest([result.kept for result in results], self._last)
        self._kept = {name: _read(value, self._objects) for name, value in latest.items()}
        self._values = values
        if self.failure is None:
            self._objects.close()

    @property
    def _last(self) -> int:
        return self.failure.position if self.failure else len(self._space) - 1

    @property
    def ran(self) -> bool:
        """Whether the loop had an iteration."""
        return len(self._space) > 0

    @property
    def last_item(self) -> Any:
        """What the loop's target held in its last iteration (the failing one, after an exception)."""
        return self._space.item(self._last)

    def __contains__(self, name: str) -> bool:
        return name in self._kept or (self.ran and name in self._values)

    def __getitem__(self, name: str) -> Any:
        value = self._values[name] if name in self._values else self._kept[name]
        if isinstance(value, Unreadable):
            raise RuntimeError(f"the value of {name!r} after the loop cannot leave its rank: {value.reason}")
        return value

    def restore(self, seeded: Iterable[str]) -> None:
        """Set the random generators that each iteration seeds to their state after the last iteration."""
        for generator in seeded:
            if (key := key_of(generator)) in self:
                restore(generator, self[key])

    def check(self) -> None:
        """Raise the exception of the loop's body, else that of its iterable, if any.

        After this nothing can be read: the program has what it wants, and decides how long it lives.
        """
        if self.failure is not None:
            raise_as_in_body(self.failure, self._objects, self.note)
        if self._space.error is not None or self.interrupted:
            error = self._space.error or KeyboardInterrupt()
            raise_as_in_body(Failure(len(self._space), 0, error), self._objects)
        self._kept, self._values, self._space = {}, {}, space_of(())
        self._objects = RootObjects()

    def reduced(self) -> Any:
        """The values of the reductions, in order: None, one, or a tuple; raises what the body raised."""
        values = tuple(self._values.values())
        self.check()
        return values[0] if len(values) == 1 else values or None


def _combined(fault: ReplayFailure, raised: Failure | None, objects: RootObjects) -> Failure:
    """The failure of a contribution; its iteration has ``raised`` where it saw at once that it would fail."""
    if raised is None or raised.position != fault.position:
        return Failure(fault.position, 0, fault.error)
    error = raised.error or objects.unpack(raised.data, raised.rank)
    if isinstance(error, RefusedOperandError):
        fault.error.__traceback__ = error.__traceback__
    return Failure(fault.position, raised.rank, fault.error)


def _latest(kept: Iterable[Mapping[str, Kept]], end: int) -> dict[str, Any]:
    """By name, the value from the region that ends last, leaving out regions that end after ``end``."""
    found: dict[str, tuple[int, Any]] = {}
    for values in kept:
        for name, entries in values.items():
            for last, value in entries:
                if last <= end and (name not in found or last > found[name][0]):
                    found[name] = (last, value)
    return {name: value for name, (_, value) in found.items()}


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands for a value that could not be read where it came to; ``reason`` says why."""

    reason: str


def _read(value: Any, objects: RootObjects) -> Any:
    """The value left in a temporary."""
    if not isinstance(value, SentValue):
        return value
    try:
        return objects.unpack(value.data, value.rank)
    except BaseException as error:  # objects' own pickling hooks may raise anything
        return Unreadable(str(error))
