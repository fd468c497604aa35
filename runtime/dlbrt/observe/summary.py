"""The summary of a run: where its time went, what rank 0 ran alone, and what to look at next, in a few lines.

The first line is always there. Of the advice only what matters most follows, and none for what took no time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from dlbrt.observe.statistics import LoopRecord
from dlbrt.records import dataclass

#: Lines of advice at most.
_ADVICE = 2

#: What takes less is not worth advice, in seconds.
_WORTH_S = 1.0

#: Below this balance the ranks' shares are worth a look.
_BALANCED = 0.8

#: If less than this part of the time is in parallel loops, the rest is what to look at.
_MOSTLY = 0.5


@dataclass(frozen=True, slots=True)
class SummarizedLoop:
    """A loop of the program: its figures, and the file that it stands in, as the user knows it."""

    record: LoopRecord
    file: str


def summarize(loops: Sequence[SummarizedLoop], ranks: int, elapsed_s: float) -> list[str]:
    """The lines, for a program that took ``elapsed_s``."""
    records = [loop.record for loop in loops if loop.record.runs]
    first = f"{_counted(ranks, 'rank')}, {_seconds(elapsed_s)}"
    if not records:
        return [f"{first}; no annotated loop was run"]
    if ranks == 1:
        part = _part(sum(record.elapsed_s for record in records), elapsed_s)
        return [f"{first}, {part} of it in {_counted(len(records), 'annotated loop')}"]
    parallel = [record for record in records if record.shared_runs]
    part = _part(sum(record.shared_elapsed_s for record in parallel), elapsed_s)
    where = f"{part} of it in {_counted(len(parallel), 'parallel loop')}"
    balance = f", balance {_balance(parallel):.2f}" if any(any(r.shared_s) for r in parallel) else ""
    return [f"{first}, {where if parallel else 'none of it in parallel loops'}{balance}",
            *islice(_advice(loops, parallel, elapsed_s), _ADVICE)]  # fmt: skip


def _advice(
    loops: Sequence[SummarizedLoop], parallel: Sequence[LoopRecord], elapsed_s: float
) -> Iterator[str]:
    yield from _alone(loops)
    shared_s = sum(record.shared_elapsed_s for record in parallel)
    if shared_s >= _WORTH_S and _balance(parallel) < _BALANCED:
        worst = max(parallel, key=_lost_s)
        yield (
            f"ranks waited for each other most at {worst.source} (balance {_balance([worst]):.2f}); "
            "`--trace FILE` and `dlbc report FILE` show when"
        )
    small = [loop.record for loop in loops if _is_small(loop.record)]
    small_s, rest_s = sum(map(_alone_s, small)), elapsed_s - shared_s
    idle = rest_s >= _WORTH_S and shared_s < _MOSTLY * elapsed_s
    if small and (not parallel or (idle and small_s >= rest_s / 2)):
        names = _named([record.source for record in sorted(small, key=_alone_s, reverse=True)])
        why = "which cost less than sharing; give each run more work"
        yield f"{_part(small_s, elapsed_s)} of the time rank 0 ran {names} alone, {why}"
    elif idle:
        yield f"{_part(rest_s, elapsed_s)} of the time only rank 0 worked, which more ranks do not shorten"


def _alone(loops: Iterable[SummarizedLoop]) -> Iterator[str]:
    """The loop that cost most of those that rank 0 ran alone for a reason, and how many others there are."""
    alone = [each for each in loops if each.record.alone_runs]
    alone.sort(key=lambda each: _alone_s(each.record), reverse=True)
    if alone:
        record, others = alone[0].record, len(alone) - 1
        times = "" if record.alone_runs == record.runs else f" {record.alone_runs} of {record.runs} times"
        more = f" (and {_counted(others, 'other loop')})" if others else ""
        sentence = f"{record.source}{more} ran on rank 0 alone{times}: {record.alone_reason}"
        yield f"{sentence}; see dlbc explain {alone[0].file}"


def _alone_s(record: LoopRecord) -> float:
    return record.elapsed_s - record.shared_elapsed_s


def _is_small(record: LoopRecord) -> bool:
    """Whether rank 0 ran the loop alone, at least sometimes, only because sharing would have cost more."""
    return record.runs > record.shared_runs and not record.alone_runs


def _balance(records: Iterable[LoopRecord]) -> float:
    """Mean over maximum of the ranks' computing times, the loops one after the other."""
    times = [record.shared_s for record in records if any(record.shared_s)]
    longest = sum(map(max, times))
    return sum(sum(each) / len(each) for each in times) / longest if longest else 1.0


def _lost_s(record: LoopRecord) -> float:
    return max(record.shared_s) - sum(record.shared_s) / len(record.shared_s)


def _named(names: Sequence[str]) -> str:
    return names[0] + (f" and {_counted(len(names) - 1, 'other loop')}" if len(names) > 1 else "")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def _part(seconds: float, of: float) -> str:
    return f"{min(1.0, seconds / of) if of else 0.0:.0%}".replace("%", " %")


def _seconds(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds < 100 else f"{seconds:.0f} s"
