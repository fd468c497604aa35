"""``dlb`` inside a kernel: one run of one loop on one rank.

A kernel reads in the order of Zaki et al., figure 1.4: arrays, scatter, then while there is work: iterate
and synchronize; gather. The same object serves rank 0 and the others, alone and in a crew.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from dlbrt.contract import Distribution
from dlbrt.core.load import Load
from dlbrt.dist.field import Field, array_field, has_rows, part_field, reached_whole
from dlbrt.dist.footprint import IndexMap
from dlbrt.dist.space import Space
from dlbrt.dist.spans import Spans
from dlbrt.dist.spec import ArraySpec, Dealing
from dlbrt.effects.contributions import UNSET, Contributions
from dlbrt.mpi.pacer import Pacer
from dlbrt.mpi.team import Solo, Team

__all__ = ["UNSET", "Ending", "Kept", "Loop", "Table"]

clock = time.perf_counter


@dataclass(frozen=True, slots=True)
class Table:
    """The array table of a loop, and how its iterations are dealt."""

    iterations: Distribution
    specs: dict[str, ArraySpec]

    def fields(self, arguments: Mapping[str, Any], space: Space) -> list[Field]:
        """The fields, their data looked up among the kernel's arguments (``self.A`` through ``self``).

        What has no rows to send and is only read (a dictionary, a tuple) goes by value with the arguments.
        """
        index = space.index or IndexMap(0, 1)
        found = ((name, _lookup(arguments, name), spec) for name, spec in self.specs.items())
        named = [array_field(*item, index) for item in found if item[2].stores or has_rows(item[1])]
        fields = named + [part_field(part) for part in space.parts]
        whole = reached_whole(fields, arguments)
        return [f.whole() if id(f.data) in whole and not f.spec.stores else f for f in fields]


@dataclass(frozen=True, slots=True)
class Kept:
    """The value of a temporary after the run of iterations that ends with position ``last``."""

    last: int
    value: Any


@dataclass(slots=True)
class Ending:
    """How this rank's part ended: final values by name, and the failure position if the body raised."""

    kept: dict[str, Kept] = field(default_factory=dict)
    failed_at: int | None = None
    error: BaseException | None = None


def _lookup(arguments: Mapping[str, Any], name: str) -> Any:
    root, *attributes = name.split(".")
    value = arguments[root]
    for attribute in attributes:
        value = getattr(value, attribute)
    return value


class Loop:
    """What a kernel sees.

    ``launch`` is called by `scatter`, and again where rank 0 has begun alone (``trial_until`` set) and
    finds the loop worth sharing: it returns the team that runs the loop. ``finish`` gathers.
    """

    unset = UNSET

    def __init__(
        self, space: Space, launch: Callable[[Loop], Team], finish: Callable[[Loop], None], load: Load
    ) -> None:
        self.space = space
        self.table = Table(Distribution.BLOCK, {})
        self.strategy: str | None = None
        self.group: int | None = None
        self.team: Team = Solo(Spans(()))
        self.contributions = Contributions()
        self.unmet: str | None = None
        self.pacer = Pacer()
        self.ending = Ending()
        self.trial_until: float | None = None
        self.started = clock()
        self._launch = launch
        self._finish = finish
        self._load = load
        self._debt_s = 0.0
        self._run = range(0)
        self._part = range(0)
        self._counter: Iterator[int] | None = None
        self._chunk_started = 0.0
        self._done = 0
        self._seconds = 0.0
        self._scattered = False

    def schedule(self, strategy: str, group: int | None = None) -> None:
        """Force a strategy for this loop."""
        self.strategy, self.group = strategy, group

    def require(self, holds: Callable[[], Any], text: str) -> None:
        """A condition that the proof rests on; where it is false, or fails, rank 0 runs the loop alone."""
        try:
            met = bool(holds())
        except Exception:  # names that are no numbers: it is not known to hold
            met = False
        if not met:
            self.unmet = self.unmet or text

    def arrays(self, iterations: Dealing | None = None, /, **specs: ArraySpec) -> None:
        """The array table: how iterations are dealt (blocks, if not said) and each array is distributed."""
        if not self._scattered:
            dealt = iterations.distribution if iterations else Distribution.BLOCK
            self.table = Table(dealt, specs)

    def reductions(self, /, **kinds: str) -> None:
        """The values that iterations contribute to, and how (see `dlbrt.effects.kinds`)."""
        if not self._scattered:
            self.contributions.declare(kinds)

    def ordered(self, *names: str) -> None:
        """The containers that iterations only add to."""
        if not self._scattered:
            self.contributions.declare_ordered(names)

    def scatter(self) -> None:
        """Deal the iterations, and send each rank what its own read."""
        if not self._scattered:
            self._scattered = True
            self.team = self._launch(self)
            if not self.team.work:
                self.synchronize()  # more ranks than iterations: work may still come

    @property
    def _watched(self) -> bool:
        """Whether anything has to be looked at between iterations."""
        shared = not isinstance(self.team, Solo)
        return shared or self._load.active or self.trial_until is not None or bool(self.space.bars)

    @property
    def more_work(self) -> bool:
        """Whether this rank has iterations to do."""
        return bool(self.team.work)

    def iterations(self, each: bool = False) -> Iterator[Any]:
        """The next run of this rank's iterations, cut into chunks with a look for interrupts after each.

        A run is a stretch of positions in order, one position if ``each``, so that what is kept
        afterwards is known to come from it.
        """
        run = self.team.work.runs[0]
        # What belongs to a run as a whole can only belong to a stretch of iterations.
        singly = run.step > 1 and self.contributions.singly
        self._run = run[:1] if each or singly else run
        return chain.from_iterable(self._chunks(self._run))

    def partial(self, /, **one: Any) -> Any:
        """What a name that iterations contribute to is bound to for the next run.

        The value itself on a rank that runs the loop alone, else what stands for it there.
        """
        return self.contributions.partial(next(iter(one)), self.team.work.runs[0])

    def fold(self, /, **one: Any) -> Any:
        """Take the share of the iteration before; a new one begins."""
        ((name, share),) = one.items()
        return self.contributions.fold(name, share)

    def combine(self, /, **values: Any) -> None:
        """Take what the run just done has left in the names that iterations contribute to."""
        self.contributions.combine(values)

    def keep(self, /, **values: Any) -> None:
        """Remember temporaries that are live after the loop, as the run just done left them."""
        self._keep(values, self._run[self._done - 1])

    def synchronize(self) -> None:
        """Exchange profiles, decide, and move work, where it is time to; wait where there is none."""
        self._end_run(self._done)
        if self.trial_until is not None and self.team.work:
            self.trial_until = None
            self.team = self._launch(self)
        self.team.synchronize()
        while self._debt_s > 0 and not self._rest():
            self.team.synchronize()

    def gather(self) -> None:
        """Collect what was stored, on rank 0."""
        self._finish(self)

    def fail(
        self, error: BaseException, temporaries: Mapping[str, Any], parameters: Mapping[str, Any]
    ) -> bool:
        """The body raised; False if it was not the body. Work before the failing iteration goes on.

        ``temporaries`` are the kernel's local variables at the failure, its parameters apart.
        """
        if self._counter is None:
            return False
        done = len(self._part) - operator.length_hint(self._counter) - 1
        position = self._part[done]
        self._account(done)
        self._flush()
        left = self.contributions.left_by({**parameters, **temporaries})
        self._keep({name: value for name, value in temporaries.items() if name not in left}, position)
        self.contributions.combine(left)
        self._end_run(self._done + 1)
        self.ending.failed_at, self.ending.error = position, error
        self.team.failed(position)
        self.synchronize()
        return True

    def _keep(self, values: Mapping[str, Any], last: int) -> None:
        for name, value in values.items():
            old = self.ending.kept.get(name)
            if value is not UNSET and (old is None or old.last <= last):
                self.ending.kept[name] = Kept(last, value)

    def _chunks(self, run: range) -> Iterator[Iterator[Any]]:
        self._done, self._seconds = 0, 0.0
        while self._done < len(run):
            self._part = run[self._done :][: self.pacer.size] if self._watched else run
            items, self._counter = self.space.items(self._part)
            self._chunk_started = clock()
            journal = self.contributions.journal
            yield items if journal is None else journal.marked(items)
            self._account(len(self._part))
            if journal is not None and journal.is_long:
                journal.cut(run, self._done)
            if self._pass_ends():
                break
        self._flush()

    def _account(self, done: int) -> None:
        """Count the first ``done`` iterations of the chunk, and what they cost under emulated load."""
        seconds = clock() - self._chunk_started
        self._counter = None
        if self._load.active:
            stretched = self._load.stretch(self._chunk_started - self.started, seconds)
            self._debt_s += stretched - seconds
            seconds = stretched
        self.pacer.learn(done, seconds)
        self._done += done
        self._seconds += seconds
        for bar in self.space.bars:
            bar.update(done)

    def ordinal(self) -> int | None:
        """Which iteration of the run is under way; None between iterations."""
        if self._counter is None:
            return None
        return max(0, self._done + len(self._part) - operator.length_hint(self._counter) - 1)

    def _end_run(self, done: int) -> None:
        """What the first ``done`` iterations of the run contributed is complete; at once on other calls."""
        self.contributions.end_run()
        if self.contributions.journal is not None:
            self.contributions.journal.end_run(self._run[:done])
        self._run, self._done = range(0), 0

    def _flush(self) -> None:
        """Report the run so far to the team."""
        if self._done:
            self.team.worked(self._run[: self._done], self._seconds)

    def _pass_ends(self) -> bool:
        if self._debt_s > 0 and not self._rest():
            return True
        if self.trial_until is not None and clock() > self.trial_until:
            return True
        return self.team.interrupted()

    def _rest(self) -> bool:
        """Wait out the emulated load; False if an interrupt came first."""
        end = clock() + self._debt_s
        while (left := end - clock()) > 0:
            if self.team.interrupted():
                self._debt_s = left
                return False
            time.sleep(min(left, 1e-3))
        self._debt_s = 0.0
        return True
