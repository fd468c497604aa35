"""The iterations of one rank as its kernel's loop takes them: chunk by chunk, with a poll after each.

A kernel's `for` runs over a stretch of positions in order, or, where nothing that it leaves belongs to a
stretch, over all that this rank has. A chunk is what is done between two polls for interrupts. Of folded
iterations it is some pairs, in two stretches: the lower positions, then their partners
(`dlbrt.data.work_table`). How long it is, `dlbrt.mpi.poll_interval` finds.
"""

from __future__ import annotations

import operator
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import field
from itertools import chain
from typing import TYPE_CHECKING, Any

from dlbrt.balance.window import ProgressSamples
from dlbrt.data.footprint import IndexMap
from dlbrt.data.space import Space
from dlbrt.data.spans import Spans
from dlbrt.emulation import Load
from dlbrt.mpi.interrupts import interrupts
from dlbrt.mpi.poll_interval import COMPILED_GROWTH, PollInterval
from dlbrt.mpi.routines.loop_residents import PendingTransfers
from dlbrt.mpi.team import SingleRank, Team, clock
from dlbrt.parameters import COMPILED_ALONE_S, COMPILED_S, MAX_PAIRS_S, PAIRS_PART
from dlbrt.records import dataclass
from dlbrt.reductions.contributions import LoopContributions

#: What compiled iterations are counted by where the loop counts nothing.
_POSITIONS = IndexMap(0, 1)

if TYPE_CHECKING:
    from dlbrt.native.chunks import CompiledChunks
    from dlbrt.partition.profiling import GroupTimes


@dataclass(slots=True)
class _Pairs:
    """A chunk of pairs under way: ``units`` of the rank's work, the stretches to come, and those done."""

    units: range
    ahead: deque[range]
    done: list[range] = field(default_factory=list)
    seconds: float = 0.0


class Walk:
    """One rank's way through its share of a loop.

    ``team`` gives the work. A loop begun alone is to be shared at ``trial_until``, or after
    ``trial_iterations`` more. ``times`` collects the times of groups of iterations, where they are measured.
    ``chunks`` are the compiled iterations, where there are any.
    ``count`` is called at each poll with the iterations done since the last one, and their seconds, where
    progress is shown.
    ``before_stretch`` is called with each stretch before it begins, ``after_stretch`` with what was done.
    """

    def __init__(self, space: Space, contributions: LoopContributions, load: Load) -> None:
        self.team: Team = SingleRank(Spans(()))
        self.poll_interval = PollInterval()
        self.trial_until: float | None = None
        self.trial_iterations: int | None = None
        self.before_stretch: Callable[[range], None] | None = None
        self.after_stretch: Callable[[range], None] | None = None
        self.times: GroupTimes | None = None
        self.count: Callable[[int, float], None] | None = None
        self.started = clock()
        self._space = space
        self._contributions = contributions
        self._load = load
        self._debt_s = 0.0
        self._stretch = range(0)
        self._descending = False  # whether the stretch lies below the one before, as partners in pairs do
        self._done = 0  # iterations of the stretch that are done
        self._failed = False  # whether the last of them has raised
        self._seconds = 0.0  # that they took
        self._progress = ProgressSamples()
        self._part = range(0)  # of the stretch, from one poll to the next
        self._counter: Iterator[int] | None = None
        self._part_started = 0.0
        self._computing_s = 0.0  # of the loop, without emulated load
        self._pairs: _Pairs | None = None
        self.chunks: CompiledChunks | None = None
        self._computing = False  # whether the turn's iterations are compiled ones
        self._apart = self._rows = self._items = False  # how they are run
        self._names: tuple[str, ...] = ()  # to which they contribute, and do nothing else for Python
        self._left = range(0)  # of the stretch, what they leave to Python
        self._delivery: PendingTransfers | None = None
        self._ahead = range(0)

    def measure(self, group: int) -> None:
        """Time groups of ``group`` iterations from now on; 0: none."""
        if group:
            from dlbrt.partition.profiling import GroupTimes

            self.times = GroupTimes(len(self._space), group)

    def join(self, team: Team) -> None:
        """Work with this team from now on; emulated memory is sized by the share that it gives this rank."""
        self.team = team
        self._load.hold(len(team.work))

    def await_rows(self, delivery: PendingTransfers, ahead: range) -> None:
        """Rows are on their way to this rank; the first iterations, ``ahead``, need none of them."""
        self._delivery, self._ahead = delivery, ahead
        if not ahead:
            self.complete_delivery()

    def complete_delivery(self) -> None:
        """Wait until all rows that this rank needs are there."""
        if self._delivery is not None:
            delivery, self._delivery = self._delivery, None  # also where it is called off
            delivery.complete()

    @property
    def on_trial(self) -> bool:
        """Whether rank 0 has begun the loop alone, for a time or some iterations."""
        return self.trial_until is not None or self.trial_iterations is not None

    def end_trial(self) -> None:
        """Go on without a bound."""
        self.trial_until = self.trial_iterations = None

    @property
    def mid_pair(self) -> bool:
        """Whether iterations are done whose partners are not; until these are done nothing may move."""
        return self._pairs is not None and bool(self._pairs.done)

    @property
    def done(self) -> range:
        """The part of the stretch that is done; a failing iteration is the last of it."""
        return self._stretch[: self._done]

    def coming(self) -> range:
        """The stretch that comes next."""
        if not self.team.units.folded:
            return self.team.work.runs[0]
        return self._opened(single=self._dealt_singly()).ahead[0]

    def iterations(self, *, each: bool) -> Iterator[Any]:
        """The items of the next stretch of positions, of one position if ``each``."""
        if self._computing:
            return self._rest()
        stretch = self.team.work.runs[0]
        self.poll_interval.begin(stretch.start)
        self._begin_stretch(stretch[:1] if each or self._dealt_singly() else stretch)
        return chain.from_iterable(self._chunks(self._stretch))

    def computed(
        self,
        *,
        each: bool,
        pairs: bool,
        apart: bool,
        rows: bool,
        names: tuple[str, ...] = (),
        items: bool = False,
    ) -> Iterator[Any]:
        """Run compiled iterations of the next stretch; for ``rows``, what each of them leaves to Python.

        That is one operand for each of ``names``, if there are any, or the index (the item for ``items``) and
        results.
        `iterations`, or `pairs`, has afterwards what these iterations have not done.
        """
        self._computing = False
        if self.chunks is None or not self.team.work:
            return iter(())
        found = self.pairs(each=each, apart=apart) if pairs else self.iterations(each=each)
        self._computing, self._apart, self._rows, self._names = True, apart, rows, names
        self._items = items
        return found

    def _rest(self) -> Iterator[Any]:
        """The iterations that compiled chunks have left to Python."""
        self._computing = False
        left, self._left = self._left, range(0)
        if not left:
            return iter(())
        return chain.from_iterable(self._by_python(left))

    def _by_python(self, left: range) -> Iterator[Iterator[Any]]:
        """Iterations of a stretch whose compiled chunks have stopped before them."""
        self.team.begin(self._done + len(left))
        yield self._begin(left)
        seconds = self._account(len(left))
        self._progress.add(self._done, self._seconds)
        if self.times is not None:
            self.times.add(left, seconds)
        if self._pairs is None:
            self._report()
        else:
            self._finish_half(self._pairs, apart=self._apart)

    def _compiled(self, part: range) -> Iterator[Iterator[Any]]:
        """Run the first iterations of a part of the stretch as they are compiled; the others are left."""
        assert self.chunks is not None
        self._part_started = clock()
        if interrupts.pending:  # the iteration that `iterations` or `pairs` begins raises it
            self._part, self._left = part[:0], part[:1]
            return
        values = (self._space.index or _POSITIONS).values(part)
        done = self.chunks.run(values)
        self._part = part[:done]
        if done and self._rows:
            items: Iterator[Any] = iter(values[:done])
            self._counter = items
            if self._items:
                items, self._counter = self._space.items(self._part)
            yield self._left_by(self.chunks, items)
        if done < len(part):
            self._left = part[done : done + self.chunks.alone()]

    def _left_by(self, chunks: CompiledChunks, items: Iterator[Any]) -> Iterator[Any]:
        """What the compiled iterations of the part leave to Python: for all at once, or for each."""
        names, part, contributions = self._names, self._part, self._contributions
        if names and (numbers := chunks.numbers(len(part))) is not None:
            run, descending = self._stretch, self._descending
            whole = contributions.operands(names, numbers, run, part, descending=descending)
            if whole is not None:
                return iter([whole if len(names) > 1 else whole[0]])
        marked = items if contributions.journal is None else contributions.journal.marked(items)
        rows = zip(marked, *chunks.columns(len(part)), strict=False)
        if not names:
            return rows
        return map(operator.itemgetter(1 if len(names) == 1 else slice(1, None)), rows)

    def pairs(self, *, each: bool, apart: bool) -> Iterator[Any]:
        """The items of the next pairs, or if ``apart`` those of the next stretch; one by one if ``each``."""
        if self._computing:
            return self._rest()
        if not self.team.units.folded:
            return self.iterations(each=each)
        if each or apart:
            opened = self._opened(single=each or self._dealt_singly())
            return chain.from_iterable(self._half(opened, apart=True))
        return chain.from_iterable(self._all_pairs())

    @property
    def in_iteration(self) -> bool:
        """Whether an iteration is under way."""
        return self._counter is not None

    def failed(self) -> int | None:
        """The position of the iteration under way, which is the last of the stretch; None between them."""
        if self._counter is None:
            return None
        # An interrupt may come before the first one.
        done = max(0, len(self._part) - operator.length_hint(self._counter) - 1)
        position = self._part[done]
        if self._computing and self.chunks is not None:
            self.chunks.undo(done + 1)
        self._account(done)
        if self._pairs is not None:
            # The rest of the chunk comes after the failure.
            self._end_half(self._pairs)
            self._report_pairs(self._pairs)
        else:
            self._report()
        self._done += 1
        self._failed = True
        return position

    def ordinal(self) -> int | None:
        """Which iteration of the stretch is under way; None between iterations."""
        if self._counter is None:
            return None
        return max(0, self._done + len(self._part) - operator.length_hint(self._counter) - 1)

    def end_stretch(self) -> None:
        """Complete what the stretch has contributed; may be called again."""
        self._contributions.end_run()
        if self.after_stretch is not None:
            self.after_stretch(self.done)
        if (journal := self._contributions.journal) is not None:
            journal.end_run(self._stretch[: self._done], descending=self._descending, failed=self._failed)
        self._begin_stretch(range(0))

    def emulate_load(self) -> None:
        """Wait out the emulated load, synchronizing when another rank asks for it."""
        while self._debt_s > 0 and not self._rested():
            self.team.synchronize()

    def _begin_stretch(self, stretch: range, *, descending: bool = False) -> None:
        if stretch and not (stretch[0] in self._ahead and stretch[-1] in self._ahead):
            self.complete_delivery()
        if self.before_stretch is not None and stretch:
            self.before_stretch(stretch)
        self._stretch, self._descending = stretch, descending
        self._done, self._seconds, self._failed = 0, 0.0, False
        self._progress = ProgressSamples()

    def _dealt_singly(self) -> bool:
        # A contribution of a run as a whole can only belong to a stretch of iterations.
        return self._contributions.singly and self.team.work.runs[0].step > 1

    def _polls(self) -> bool:
        """Whether anything has to be polled or measured between iterations."""
        shared = not isinstance(self.team, SingleRank)
        samples = shared or self._load.active or self.on_trial or bool(self._space.bars) or self._computing
        return samples or self.count is not None or self.team.recorder is not None

    def _chunks(self, stretch: range) -> Iterator[Iterator[Any]]:
        """A stretch in chunks, until it or this rank's turn ends."""
        journal = self._contributions.journal
        growth, least_s = (COMPILED_GROWTH, self._compiled_s()) if self._computing else (2, 0.0)
        computing_s, processor_s = self._computing_s, self._processor_s()
        while self._done < len(stretch):
            part = self._next_part(stretch)
            self.team.begin(self._done + len(part))
            if self._computing:
                yield from self._compiled(part)
                part = self._part
            else:
                yield self._begin(part)
            seconds = self._account(len(part))
            if self.trial_iterations is not None:
                self.trial_iterations -= len(part)
            if self._left:
                return  # what has been done is reported with it
            self.poll_interval.learn(len(part), seconds, least_s, growth)
            self._progress.add(self._done, self._seconds)
            if self.times is not None:
                self.times.add(part, seconds)
            if journal is not None and journal.is_due:
                journal.cut(stretch, self._done)
            if self._turn_ends():
                break
        if self.times is not None:
            self.times.watch(self._computing_s - computing_s, self._processor_s() - processor_s)
        self._report()

    @property
    def _poll_size(self) -> int:
        """How many iterations, or pairs, to do until the next poll."""
        size = self.poll_interval.size
        return self.chunks.in_strips(size) if self._computing and self.chunks is not None else size

    def _processor_s(self) -> float:
        """Seconds of processor that this process has had, where times are measured."""
        return 0.0 if self.times is None else time.process_time()

    def _next_part(self, stretch: range) -> range:
        left = stretch[self._done :]
        if not self._polls():
            return left
        part = left[: min(self._poll_size, self.trial_iterations or len(left))]
        if self.times is None:
            return part
        return range(part.start, min(part.stop, self.times.limit(part.start)), part.step)

    def _all_pairs(self) -> Iterator[Iterator[Any]]:
        """Chunks of pairs, until this rank's work or turn ends."""
        while self.team.work:
            pairs = self._opened(single=False)
            while pairs.ahead:
                yield from self._half(pairs, apart=False)
                if self._left:
                    return
                self.end_stretch()
            if self._turn_ends():
                break

    def _opened(self, *, single: bool) -> _Pairs:
        """The chunk of pairs under way, or a new one where there is none, or an unbegun one is too long."""
        pairs = self._pairs
        if pairs is None or (single and not pairs.done and len(pairs.units) > 1):
            work = self.team.work.runs[0]
            self.poll_interval.begin(work.start)
            units = work[: 1 if single else self._poll_size]
            stretches = self.team.units.stretches(units)
            end = self.team.failed_at
            clipped = (range(s.start, min(s.stop, end), s.step) for s in stretches)
            pairs = self._pairs = _Pairs(units, deque(filter(None, clipped)))
        return pairs

    def _half(self, pairs: _Pairs, *, apart: bool) -> Iterator[Iterator[Any]]:
        """The next stretch of a chunk of pairs; ``apart``: the kernel synchronizes after it."""
        stretch = pairs.ahead.popleft()
        self._begin_stretch(stretch, descending=bool(pairs.done))
        if self._computing:
            yield from self._compiled(stretch)
            self._account(len(self._part))
            if self._left:
                self._left = stretch[self._done :]
                return
        else:
            yield self._begin(stretch)
            self._account(len(stretch))
        self._finish_half(pairs, apart=apart)

    def _finish_half(self, pairs: _Pairs, *, apart: bool) -> None:
        """One side of a chunk of pairs is done."""
        self._end_half(pairs)
        if not pairs.ahead:
            least_s = min(MAX_PAIRS_S, PAIRS_PART * (clock() - self.started)) if apart else 0.0
            if self.chunks is not None:
                least_s = max(least_s, self._compiled_s())
            growth = COMPILED_GROWTH if self.chunks is not None else 2
            self.poll_interval.learn(len(pairs.units), pairs.seconds, least_s, growth)
            self._report_pairs(pairs)

    def _compiled_s(self) -> float:
        """How long compiled chunks last: a rank alone polls for nothing but signals."""
        return COMPILED_ALONE_S if isinstance(self.team, SingleRank) and not self.on_trial else COMPILED_S

    def _end_half(self, pairs: _Pairs) -> None:
        pairs.done.append(self._stretch[: self._done])
        pairs.seconds += self._seconds

    def _report_pairs(self, pairs: _Pairs) -> None:
        """Report to the team that a chunk of pairs is done."""
        self._pairs = None
        self.poll_interval.end(pairs.units)
        self.team.worked(len(pairs.units), Spans.of(*pairs.done), pairs.seconds)

    def _begin(self, part: range) -> Iterator[Any]:
        """The items of a part of the stretch; `_account` follows."""
        self._part = part
        items, self._counter = self._space.items(part)
        self._part_started = clock()
        interrupts.raise_pending()
        journal = self._contributions.journal
        return items if journal is None else journal.marked(items)

    def _account(self, done: int) -> float:
        """Count the first ``done`` iterations of the part; returns their seconds, emulated load included."""
        seconds = computing_s = clock() - self._part_started
        self._counter = None
        self.team.end()
        self._computing_s += computing_s
        if self._load.active:
            stretched = self._load.stretch(self._part_started - self.started, seconds)
            self._debt_s += stretched - seconds
            seconds = stretched
        self._done += done
        self._seconds += seconds
        for bar in self._space.bars:
            bar.update(done)
        if self.count is not None:
            self.count(done, seconds)
        if (recorder := self.team.recorder) is not None:
            recorder.computed(self._part[:done], self._part_started, seconds, computing_s)
        return seconds

    def _report(self) -> None:
        """Report to the team how much of the stretch is done."""
        self.poll_interval.end(self.done)
        if self._done:
            done = Spans.of(self._stretch[: self._done])
            self.team.worked(self._done, done, self._seconds, self._progress.samples)

    def _turn_ends(self) -> bool:
        if self._debt_s > 0 and not self._rested():
            return True
        if self.trial_until is not None and clock() > self.trial_until:
            return True
        if self.trial_iterations is not None and self.trial_iterations <= 0:
            return True
        return self.team.interrupted()

    def _rested(self) -> bool:
        """Wait out the emulated load; False if an interrupt came first."""
        end = clock() + self._debt_s
        while (left := end - clock()) > 0:
            if self.team.interrupted():
                self._debt_s = left
                return False
            time.sleep(min(left, 1e-3))
        self._debt_s = 0.0
        return True
