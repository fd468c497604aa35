"""An iterative routine as a report shows it: its passes, and the speed functions that cut its shares."""

from __future__ import annotations

from collections.abc import Sequence

from dlbrt.records import dataclass
from markupsafe import Markup

from dlbc.commands.report.charts import LINES, Chart, Line
from dlbc.commands.report.facts import PassFacts, RoutineFacts
from dlbc.commands.report.tables import Table
from dlbc.commands.report.words import about, count, seconds_text

#: Looks at passes that are listed, the latest ones.
_MOST_LOOKS = 40


@dataclass(frozen=True, slots=True)
class RoutineView:
    """A routine in words, a table of its looks at passes, and pictures."""

    source: str
    facts: str
    looks: Table
    passes_chart: Markup
    speeds_chart: Markup


def routine_view(routine: RoutineFacts) -> RoutineView:
    """The view of a routine's last run."""
    return RoutineView(
        routine.source,
        _facts(routine),
        _looks(routine.passes),
        _passes_chart(routine),
        _speeds_chart(routine),
    )


def _facts(routine: RoutineFacts) -> str:
    passes = routine.passes
    if not passes:
        return "Its passes were not measured."
    moves = sum(each.moved > 0 for each in passes)
    first, last = max(passes[0].seconds), max(passes[-1].seconds)
    words = f"{count(sum(each.passes for each in passes), 'pass').replace('passs', 'passes')} measured: "
    words += f"the slowest rank computed {about(first)} in the first and {about(last)} in the last"
    return f"{words}; shares were cut anew {count(moves, 'time')}."


def _looks(passes: Sequence[PassFacts]) -> Table:
    heads = ("pass", "rows of each rank", "slowest", "fastest", "predicted for the next", "what followed")
    rows, number = [], 1
    for each in passes:
        numbers = f"{number}" if each.passes == 1 else f"{number} to {number + each.passes - 1}"
        predicted = "" if each.predicted_s is None else seconds_text(each.predicted_s)
        times = [s for s, held in zip(each.seconds, each.rows, strict=True) if held] or [0.0]
        shown = (
            " ".join(map(str, each.rows))
            if len(each.rows) <= LINES
            else f"{min(each.rows)} to {max(each.rows)}"
        )
        spread = (seconds_text(max(times)), seconds_text(min(times)))
        rows.append((numbers, shown, *spread, predicted, each.reason))
        number += each.passes
    return Table(heads, tuple(rows[-_MOST_LOOKS:]))


def _passes_chart(routine: RoutineFacts) -> Markup:
    """The seconds of the slowest and of a mean rank, from pass to pass."""
    slowest, mean, number = [], [], 0
    for each in routine.passes:
        number += each.passes
        slowest.append((float(number), max(each.seconds)))
        mean.append((float(number), sum(each.seconds) / len(each.seconds)))
    lines = (Line("slowest", tuple(slowest), "l1"), Line("mean", tuple(mean), "l0"))
    return Chart(f"{routine.source}: seconds of a pass", "pass", "time of a pass", lines, first=1.0).svg()


def _speeds_chart(routine: RoutineFacts) -> Markup:
    """Each rank's speed over the rows that it held, with the partition: its last share."""
    if not routine.functions or not routine.passes:
        return Markup()
    model, per_rank = routine.functions[0]
    held = routine.passes[-1].rows
    known = [rank for rank, points in enumerate(per_rank) if points]
    if len(known) > LINES:  # the slowest and the fastest ones
        known.sort(key=lambda rank: per_rank[rank][-1][1])
        known = sorted(known[: LINES // 2] + known[-LINES // 2 :])
    lines = []
    for colour, rank in enumerate(known):
        points = tuple((float(units), speed) for units, speed in per_rank[rank])
        dots = tuple(
            f"rank {rank}: {units} rows at {speed:.4g} rows a second" for units, speed in per_rank[rank]
        )
        lines.append(Line(f"rank {rank}", points, f"l{colour}", dots, _share(points, held[rank])))
    title = f"{routine.source}: rows a second over the rows that a rank holds ({model} model)"
    return Chart(title, "rows of the rank", "rows a second", tuple(lines), y_seconds=False).svg()


def _share(points: Sequence[tuple[float, float]], rows: int) -> tuple[float, float] | None:
    """The point of a rank's speed function at its share: between two points by a line, else the nearest."""
    if rows <= 0:
        return None
    below = max((p for p in points if p[0] <= rows), default=points[0])
    above = min((p for p in points if p[0] >= rows), default=points[-1])
    if above[0] <= below[0]:
        return (
            min(max(float(rows), points[0][0]), points[-1][0]),
            below[1] if below[0] <= rows else above[1],
        )
    weight = (rows - below[0]) / (above[0] - below[0])
    return float(rows), below[1] + weight * (above[1] - below[1])
