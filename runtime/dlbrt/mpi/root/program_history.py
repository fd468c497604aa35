"""What rank 0 remembers of each loop: figures for the statistics, and costs that decide its next run.

A `LoopHistory` lasts as long as the program. What its runs teach of speeds and densities can be kept in a
file for later runs of the program (`dlbrt.observe.measurements`).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import fsum, sqrt
from types import CodeType
from typing import TYPE_CHECKING

from dlbrt.balance.messages import RedistributionGain
from dlbrt.balance.strategies import STATIC
from dlbrt.chunks.statistics import LoopStatistics, Measurements
from dlbrt.contract import LAST, OptionError
from dlbrt.data.access_table import AccessTables
from dlbrt.mpi.root.library_threads import LibraryThreads
from dlbrt.mpi.team import RunCounters, clock
from dlbrt.observe import statistics
from dlbrt.observe.linemap import Frame, original, proof_of
from dlbrt.observe.terminal import write_line
from dlbrt.partition.variation import SpeedVariation
from dlbrt.predict.loop_sharing import LoopSharing
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from pathlib import Path

    from dlbrt.chunks.rules import Steps
    from dlbrt.mpi.root.plain_payload import Form, PlainPayload
    from dlbrt.observe.measurements import LoopKey, LoopMeasurements, MeasurementStore
    from dlbrt.partition.density import Density
    from dlbrt.partition.profiling import Profiling
    from dlbrt.predict.choose import StrategyChoice
    from dlbrt.speed.points import SpeedPoints


@dataclass(frozen=True, slots=True)
class SharingFigures:
    """What only a run on all ranks has.

    ``choice`` is how its strategy was chosen, if it was. ``rows_fetched`` are the rows of resident arrays
    that the call brought to ranks; ``bytes_scattered`` are those of other rows that it sent out, and
    ``bytes_gathered`` those that came back. For ``loading_s`` ranks imported modules and compiled chunks,
    which no later run has to.
    """

    choice: StrategyChoice | None = None
    rows_fetched: int = 0
    bytes_fetched: int = 0
    loading_s: float = 0.0
    bytes_scattered: int = 0
    bytes_gathered: int = 0


#: The model plays sizes of groups in about 3 ms for each rank: less than a twentieth of this.
_TUNED_AFTER_S = 0.1

#: Ranks that take longer have compiled something.
_COMPILED_S = 5e-3


class LoopHistory:
    """One loop: its statistics, and what its earlier runs cost.

    ``source`` is the name of its file and its line, ``file`` the path of its file as the user gave it.
    ``sharing`` tells whether its next run is shared; ``chunk`` is the chunk size to begin with.
    ``contradiction`` says what has contradicted the plan, so that rank 0 runs the loop alone;
    ``rows_missed``: an iteration has failed where its old rows were not;
    ``watched_runs`` counts the runs that began with watched iterations.
    ``leaves_behind``: what the loop uses holds objects that cannot be sent; ``has_bulk``: large ones that it
    does not use, None where this is not known. ``read`` are the names of the
    classes, functions and modules that other ranks have read for it. ``plain_payloads`` are packed ones of
    earlier runs.
    ``tables`` are the access tables of arrays whose subscripts were inspected, by name; ``profiling`` is what
    the clause ``profile`` measures from run to run; ``points`` are the speed points that routines have
    measured, by the form of rows; ``steps`` are the loop's runs as time steps of AWF; ``measurements`` is
    what earlier runs of the program have taught.
    """

    def __init__(
        self,
        key: str,
        source: str,
        ranks: int,
        loop: LoopKey | None = None,
        measurements: LoopMeasurements | None = None,
        file: str = "",
    ) -> None:
        self.key = key
        self.source = source
        self.file = file
        self.record = statistics.LoopRecord(key, source, ranks)
        self._loop = loop
        self._measurements = measurements
        self._used: LoopMeasurements | None = None
        self._variation = SpeedVariation(ranks)
        self._work = [0.0] * ranks
        self._seconds = [0.0] * ranks
        self.chunk = 1
        self._group_size: int | None = None
        self._tunes_at = 1  # the number of runs after which the model is asked for it
        self.withheld = ""
        self.rows_missed = False
        self.leaves_behind = False
        self.has_bulk: bool | None = None
        self.read: set[str] = set()
        self.plain_payloads: dict[Form, PlainPayload] = {}
        self.contradiction: str | None = None
        self.watched_runs = 0
        self.tables: dict[str, AccessTables] = {}
        self.profiling: Profiling | None = None
        self.points: dict[str, tuple[SpeedPoints, ...]] = {}
        self.steps: Steps | None = None
        self._mean_s: float | None = None
        self._deviation_s: float | None = None
        self._dealing_s: float | None = None
        self.sharing = LoopSharing(ranks)
        self._remarks: set[str] = set()
        self.library_threads = LibraryThreads()

    @property
    def asks_model(self) -> bool:
        """Whether the model predicts times for this run: it takes up to 20 ms, so in runs 1, 2, 4, 8, ..."""
        run = self.record.runs + 1
        return run & (run - 1) == 0

    def group_size(self, unit: int) -> int | None:
        """The size of groups by the model, from what the last choice of a strategy knew; None: as usual.

        It takes the model some milliseconds, so it is asked again when the number of runs has doubled, and
        not before the loop has taken `_TUNED_AFTER_S` for each rank. Sizes are multiples of ``unit``.
        """
        choice, long_enough_s = self.record.choice, _TUNED_AFTER_S * len(self._seconds)
        due = self.record.runs >= self._tunes_at and self.record.elapsed_s >= long_enough_s
        if choice is not None and due:
            from dlbrt.predict.group_size import tuned

            self._tunes_at = 2 * self.record.runs
            self._group_size = tuned(choice.known, unit) or self._group_size
        return self._group_size

    def learn(
        self,
        figures: Sequence[RunCounters],
        elapsed_s: float,
        iterations: int,
        strategy: str,
        reason: str,
        planned: statistics.PlannedShares | None,
        sharing: SharingFigures,
        *,
        teaches: bool = True,
    ) -> None:
        """Take in one run: the figures of rank 0 alone, or of all ranks.

        Unless it ``teaches``, since a rank has died, later runs do not go by its times.
        """
        overhead_s = max(0.0, elapsed_s - sharing.loading_s - max(f.compute_s for f in figures))
        compute_s, begun_s = [f.compute_s for f in figures], [f.begun_s for f in figures]
        if not teaches:
            pass
        elif len(figures) > 1:
            compiled = any(f.compile_s > _COMPILED_S for f in figures)
            self.sharing.learn(iterations, compute_s, begun_s, overhead_s, compiled=compiled)
        else:
            self.sharing.learn_alone(iterations, compute_s[0], elapsed_s)
        ranks = [
            statistics.RankFigures(len(f.done), f.compute_s, f.sync_s, f.idle_s, f.decision_s, f.movement_s)
            for f in figures
        ]
        idle = [statistics.RankFigures()] * (self.record.ranks - len(figures))
        self.record.add(
            statistics.RunStatistics(
                strategy,
                sum(len(f.done) for f in figures),
                elapsed_s,
                (*statistics.until_the_last(ranks), *idle),
                sum(f.synchronizations for f in figures),
                sum(f.redistributions for f in figures),
                sum(f.iterations_moved for f in figures),
                sum(f.bytes_moved for f in figures),
                choice=sharing.choice,
                reason=reason,
                overhead_s=overhead_s,
                planned=planned,
                windows=tuple(window for f in figures for window in f.windows),
                gain=sum((f.gain for f in figures), RedistributionGain()),
                rows_fetched=sharing.rows_fetched,
                bytes_fetched=sharing.bytes_fetched,
                bytes_scattered=sharing.bytes_scattered,
                bytes_gathered=sharing.bytes_gathered,
                bytes_predicted=sum(f.bytes_predicted for f in figures),
            )
        )

    def learn_alone(
        self, strategy: str, runs: int, iterations: int, compute_s: float, elapsed_s: float
    ) -> None:
        """Take in ``runs`` that rank 0 has repeated alone: their iterations and seconds in all."""
        self.sharing.learn_alone(iterations, compute_s, elapsed_s)
        idle = [statistics.RankFigures()] * (self.record.ranks - 1)
        self.record.add(
            statistics.RunStatistics(
                strategy,
                iterations,
                elapsed_s,
                (statistics.RankFigures(iterations, compute_s), *idle),
                overhead_s=elapsed_s - compute_s,
                runs=runs,
                repeated_runs=runs,
            )
        )

    def go_on_with(self, ranks: int) -> None:
        """From now on so many ranks run the loop, and know nothing of it: some have died."""
        self._variation = SpeedVariation(ranks)
        self._work, self._seconds = [0.0] * ranks, [0.0] * ranks
        self._measurements = self._used = self._group_size = self.profiling = self.steps = None
        self.read, self.plain_payloads = set(), {}
        self.points = {}
        self.sharing = LoopSharing(ranks)

    def learn_repeated(
        self,
        totals: tuple[int, float, float],
        figures: Sequence[tuple[int, float, float]],
        carried: tuple[int, int],
    ) -> None:
        """Take in runs that were repeated with the same shares.

        ``totals`` are how many, their seconds, and those beyond computing; ``figures`` each rank's iterations
        in one run, and its seconds of computing and waiting in all; ``carried`` the rows and bytes that
        ranks lacked.
        """
        runs, elapsed_s, overhead_s = totals
        self.record.add(
            statistics.RunStatistics(
                STATIC,
                runs * sum(count for count, _, _ in figures),
                elapsed_s,
                tuple(statistics.RankFigures(runs * n, busy, idle_s=idle) for n, busy, idle in figures),
                overhead_s=overhead_s,
                rows_fetched=carried[0],
                bytes_fetched=carried[1],
                runs=runs,
                repeated_runs=runs,
            )
        )

    def record_speeds(self, work: Sequence[float], seconds: Sequence[float]) -> None:
        """Add how much work each rank did in a run, in a unit of that run's own, and how long it took."""
        # One unit for all runs: what a mean rank does in a second.
        self._variation.add(work, seconds)
        share = fsum(seconds) / (fsum(work) or 1.0)
        for rank, (part, taken) in enumerate(zip(work, seconds, strict=True)):
            self._work[rank] += part * share
            self._seconds[rank] += taken

    def known_speeds(self, wanted: bool, expected: bool = True) -> tuple[float, ...]:
        """The relative speeds that the last run has measured, if they are ``wanted`` and there are any.

        Where they are ``expected`` and there are none, this is reported.
        """
        if not wanted or (not expected and (self._measurements is None or not self._measurements.speeds)):
            return ()
        if self._measurements is None or not (self._measurements.speeds or self._measurements.densities):
            self.log(f"no speeds of these ranks are known for weights {LAST}: equal shares to begin with")
            return ()
        self._used = self._measurements
        return self._measurements.speeds

    def known_points(self, form: str) -> tuple[SpeedPoints, ...]:
        """The speed points that an earlier run has measured for rows of that form."""
        return () if self._measurements is None else self._measurements.curve(form)

    def known_density(self, n: int) -> Density | None:
        """The density of ``n`` iterations that an earlier run has measured."""
        return None if self._measurements is None else self._measurements.density(n)

    def known_of_chunks(self, weights: Sequence[float]) -> LoopStatistics:
        """What self-scheduling may use: speeds, given or measured, and times of iterations."""
        measured = self.steps.weights(weights or (1.0,) * len(self._work)) if self.steps else weights
        return LoopStatistics(self._mean_s, self._deviation_s, self._dealing_s, tuple(measured))

    def learn_of_chunks(self, figures: Sequence[RunCounters], dealing_s: float) -> None:
        """Learn from a run on all ranks how long chunks take; dealing one takes ``dealing_s``."""
        from dlbrt.chunks.rules import Steps

        records = [each.chunks for each in figures]
        seen = Measurements(len(records))
        seen.records = records
        self.steps = (self.steps or Steps.before(len(records))).then(seen)
        units, freedom = fsum(r.units for r in records), sum(max(0, r.chunks - 1) for r in records)
        if units and freedom:
            self._mean_s = fsum(r.mean_s * r.units for r in records) / units
            self._deviation_s = sqrt(fsum(max(0.0, r.spread) for r in records) / freedom)
            self._dealing_s = dealing_s
        if self._mean_s == 0:
            self._mean_s = self._deviation_s = None

    @property
    def measurements(self) -> LoopMeasurements:
        """What the program has taught so far of the loop."""
        from dlbrt.observe.measurements import LoopMeasurements, MeasuredSpeeds
        from dlbrt.partition.profiling import relative_speeds

        assert self._loop is not None, "called only where measurements are kept"
        densities = self.profiling.densities if self.profiling is not None else ()
        curves = tuple(MeasuredSpeeds(form, points) for form, points in self.points.items())
        speeds, seconds = relative_speeds(self._work, self._seconds) or (), tuple(self._seconds)
        if not speeds:
            # A density that was measured with the kept speeds has to be used with them again.
            used = self._used if densities else None
            speeds, seconds = (used.speeds, used.seconds) if used is not None else ((), ())
        date, spread = time.strftime("%Y-%m-%d"), self._variation.factor
        return LoopMeasurements(self._loop, speeds, densities, seconds, curves, date, spread)

    def log(self, sentence: str, topic: str = "") -> None:
        """Print a sentence about this loop on standard error, once, or one sentence on a ``topic``."""
        if (topic or sentence) not in self._remarks:
            self._remarks.add(topic or sentence)
            write_line(f"dlb: {self.source}: {sentence}")


class ProgramHistory:
    """The histories of all loops of a program, in the order in which they first ran.

    ``learned`` is what earlier runs have taught, ``kept`` the file that this run adds to (None: none),
    ``keeper`` the option that named the file.
    """

    def __init__(
        self,
        ranks: int,
        host_names: Sequence[str],
        learned: MeasurementStore | None = None,
        kept: Path | None = None,
        keeper: str = "learned",
    ) -> None:
        self._ranks = self._living = ranks
        self.host_names = self._started_on = host_names
        self._learned = learned
        self._kept = kept
        self._keeper = keeper
        self._started = clock()
        self._loop_histories: dict[tuple[str, str], LoopHistory] = {}
        self._routines: dict[str, statistics.RoutineRecord] = {}

    def loop_history(self, kernel: Callable[..., None]) -> LoopHistory:
        """The history of the loop of that kernel."""
        code = kernel.__code__
        key = (code.co_filename, code.co_name)
        if key not in self._loop_histories:
            frame = Frame(code.co_filename, code.co_firstlineno, code.co_name)
            place = original(frame) or frame
            source = f"{os.path.basename(place.filename)}:{place.line}"
            number = str(len(self._loop_histories) + 1)
            self._loop_histories[key] = LoopHistory(
                number, source, self._ranks, *self._measurements(source, code), place.filename
            )
            if self._living < self._ranks:
                self._loop_histories[key].go_on_with(self._living)
            self._loop_histories[key].record.proof = proof_of(*key)
        return self._loop_histories[key]

    def _measurements(self, source: str, code: CodeType) -> tuple[LoopKey | None, LoopMeasurements | None]:
        """The key of a loop from run to run, and what earlier runs taught; None where nothing is kept."""
        if self._kept is None or self._learned is None:
            return None, None
        from dlbrt.observe.measurements import LoopKey

        loop = LoopKey(source, _fingerprint(code), tuple(self.host_names))
        return loop, self._learned.of(loop)

    def go_on_with(self, alive: Sequence[int]) -> None:
        """Some ranks have died: ``alive`` are the others, by their numbers so far."""
        self._living = len(alive)
        self.host_names = [self.host_names[rank] for rank in alive]
        self._kept = None  # what this run teaches is not of these ranks
        for each in self._loop_histories.values():
            each.go_on_with(self._living)

    def routine(self, source: str) -> statistics.RoutineRecord:
        """The record of the routine that stands there."""
        return self._routines.setdefault(source, statistics.RoutineRecord(source))

    def statistics(self) -> dict[str, object]:
        """The statistics of the program so far."""
        records = [loop_history.record for loop_history in self._loop_histories.values()]
        routines, elapsed_s = list(self._routines.values()), clock() - self._started
        return statistics.report(records, self._ranks, self._started_on, elapsed_s, routines)

    def write(self, path: str) -> None:
        """Write the statistics; a path that cannot be written is reported, and the program goes on."""
        from dlbrt.observe import files

        try:
            files.write(path, self.statistics())
        except OSError as error:
            write_line(f"dlb: the statistics could not be written: {error}")

    def show_summary(self) -> None:
        """Print on standard error where the time of the program went; never on standard output."""
        from dlbrt.observe.summary import SummarizedLoop, summarize

        loops = [SummarizedLoop(each.record, each.file) for each in self._loop_histories.values()]
        lines = summarize(loops, self._ranks, clock() - self._started)
        with suppress(OSError, ValueError):  # it may be closed
            if sys.__stderr__ is not None:
                write_line("\n".join(f"dlb: {line}" for line in lines), sys.__stderr__)

    def remember(self, trial: bool = False) -> None:
        """Add what this run has taught to the file; one that cannot be written is reported.

        What other programs have disturbed is reported instead; after a ``trial`` `dlbc calibrate` does that.
        """
        if self._kept is None:
            return
        from dlbrt.observe.measurements import update

        entries = [loop_history.measurements for loop_history in self._loop_histories.values()]
        if not trial:
            for each in (entry for entry in entries if entry.disturbed):
                write_line(f"dlb: {each.key.source}: {each.disturbance}")
            entries = [each for each in entries if not each.disturbed]
        try:
            measured = [each for each in entries if each.speeds or each.densities or each.curves]
            update(self._kept, measured, self._keeper)
        except (OSError, OptionError) as error:
            write_line(f"dlb: what was learned could not be written: {error}")


def _fingerprint(code: CodeType) -> str:
    """A kernel's code, wherever it stands in its file."""
    import hashlib  # loads a library of its own

    digest = hashlib.sha256(code.co_code)
    digest.update(repr((code.co_names, code.co_varnames)).encode())
    for constant in code.co_consts:
        digest.update((_fingerprint(constant) if isinstance(constant, CodeType) else repr(constant)).encode())
    return digest.hexdigest()[:16]
