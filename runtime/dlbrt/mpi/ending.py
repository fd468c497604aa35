"""What a loop leaves behind: the loop variable, the temporaries, and the exception of its body.

Names without a value where a loop is met are no error unless the loop has an iteration (`Unbound`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dlbrt.data.space import Space
from dlbrt.mpi.failure import Failure, raise_as_in_body
from dlbrt.mpi.loop import Kept
from dlbrt.mpi.perform import RankResult, SentValue
from dlbrt.mpi.values.objects import RootObjects
from dlbrt.records import dataclass
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
        # Contributions are combined after the loop, but where that fails the sequential program had stopped.
        self.failure: Failure | None = Failure(fault.position, 0, fault.error) if fault else None
        self.failure = self.failure or min(failures, key=lambda failure: failure.position, default=None)
        self.note = ""
        self._space = space
        self._objects = objects or RootObjects()
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
        return next(self._space.items(range(self._last, self._last + 1))[0])

    def __contains__(self, name: str) -> bool:
        return name in self._kept or (self.ran and name in self._values)

    def __getitem__(self, name: str) -> Any:
        value = self._values[name] if name in self._values else self._kept[name]
        if isinstance(value, Unreadable):
            raise RuntimeError(
                f"the value of {name!r} after the loop cannot leave its rank: {value.obstacle}"
            )
        return value

    def check(self) -> None:
        """Raise the exception of the loop's body, if any."""
        if self.failure is not None:
            raise_as_in_body(self.failure, self._objects, self.note)

    def reduced(self) -> Any:
        """The values of the reductions, in order: None, one, or a tuple; raises what the body raised."""
        self.check()
        values = tuple(self._values.values())
        return values[0] if len(values) == 1 else values or None


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
    """Stands for a value that could not leave its rank; ``obstacle`` says why."""

    obstacle: str


def _read(value: Any, objects: RootObjects) -> Any:
    """The value left in a temporary."""
    if not isinstance(value, SentValue):
        return value
    if value.obstacle:
        return Unreadable(value.obstacle)
    try:
        return objects.unpack(value.data, value.rank)
    except Exception as error:  # objects' own pickling hooks may raise anything
        return Unreadable(str(error))


@dataclass(frozen=True, slots=True)
class Unbound:
    """Stands for the value of a name that has none; ``error`` is what reading it raised."""

    error: NameError


def value_or_unbound(read: Callable[[], Any]) -> Any:
    """What ``read`` returns, or an `Unbound` where its name has no value."""
    try:
        return read()
    except NameError as error:
        return Unbound(error)


def check_bound(arguments: Iterable[Any]) -> None:
    """Raise what the first iteration would raise where a name has no value."""
    for argument in arguments:
        if isinstance(argument, Unbound):
            raise _as_in_the_program(argument.error)


def _as_in_the_program(error: NameError) -> NameError:
    """The error as the program sees it: a free name of the reading function is a local of the program."""
    if "free variable" not in str(error):
        return error.with_traceback(None)
    return UnboundLocalError(
        f"cannot access local variable {error.name!r} where it is not associated with a value"
    )
