"""What a proposed loop takes and gains on P ranks: by a profile, by sizes, or from which size on it pays.

A run of a loop takes S seconds alone. On P ranks it takes as long as the rank with the largest share (that of
`dlbc explain -n P`), and what sharing costs: the loop is sent to all ranks, its rows go there and back, and
all are waited for, on the network that the model of `dlbrt.predict` assumes for the ranks of one host. A loop
pays if a run becomes shorter by the tenth that balancing asks of a move of work (Zaki et al., section 1.2).

S is measured, or it is the work W(i) of all iterations at `OPERATION_S` each. Both are of plain Python: what
`jit` gains comes on top.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from math import ceil
from typing import TYPE_CHECKING

from dlbrt.records import dataclass

from dlbc.algebra.integer_form import Apply, IntegerForm, Variable, VariableKind
from dlbc.algebra.iteration_cost import CostClass
from dlbc.commands.explain.contributed import contributed_s
from dlbc.commands.explain.iterations import find_iterations
from dlbc.commands.explain.loop_numbers import LoopNumbers, Number, NumberError
from dlbc.commands.explain.movement import bytes_of_rows
from dlbc.commands.explain.prediction import OPERATION_S, overhead
from dlbc.commands.explain.rank_facts import ranks_as_json
from dlbc.commands.explain.ranks import RankSpec
from dlbc.commands.simulate.costs import find_work
from dlbc.ir.plan import LoopReport

if TYPE_CHECKING:
    from dlbc.commands.annotate.profile import LoopTime

#: A loop pays if it takes this part of its time less, at least.
_LEAST_GAIN = 0.1

#: Sizes up to 2 to this power are tried for the smallest that pays.
_LARGEST = 16


class WorthVerdict(Enum):
    """Whether a loop is worth an annotation."""

    PAYS = "pays"
    TOO_SMALL = "too small"
    BY_SIZE = "depends on its size"


@dataclass(frozen=True)
class LoopSize:
    """How large a run of a loop is, as far as it is known; ``missing``: numbers that would show more.

    ``seconds``: all iterations one after the other; ``bytes``: of the rows that go to other ranks or back.
    """

    iterations: int | None = None
    seconds: float | None = None
    bytes: float = 0.0
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Worth:
    """Whether a loop pays on a number of ranks.

    ``parallel_s``: seconds of a run on the ranks, None if not known. ``least_s``: from how many seconds on a
    run pays. ``sizes``: for the missing numbers, all set to one value, the least power of two that pays; None
    if not found. ``never``: no size pays, since iterations do too little for what they pass on.
    """

    verdict: WorthVerdict
    size: LoopSize
    parallel_s: float | None = None
    least_s: float | None = None
    sizes: int | None = None
    never: bool = False

    @property
    def gain(self) -> float | None:
        """How many times as fast a run becomes."""
        if self.parallel_s is None or not self.size.seconds:
            return None
        return self.size.seconds / self.parallel_s


def worth_of(
    report: LoopReport, ranks: int, given: Mapping[str, Number], time: LoopTime | None = None, *, stays: bool
) -> Worth:
    """The worth of a loop on ``ranks`` ranks; ``stays``: its arrays stay on the ranks from run to run."""
    size = measured_size(time) if time is not None else _size_of_any(report, given)
    if stays:
        size = replace(size, bytes=0.0)
    elif time is not None:
        size = replace(
            size, bytes=_bytes(report, LoopNumbers(report.loop, report.space, given), size.iterations)
        )
    overhead_s = _overhead_s(report, ranks, size)
    least_s = _least_s(ranks, overhead_s)
    if size.seconds is None:
        smallest = _smallest(report, ranks, given, size.missing, stays)
        never = smallest is None and (
            _is_light(report, ranks, LoopSize(0, 1.0)) or _is_light_by(report, ranks, given, size.missing)
        )
        verdict = WorthVerdict.TOO_SMALL if never else WorthVerdict.BY_SIZE
        return Worth(verdict, size, None, least_s, smallest, never)
    parallel_s = size.seconds * _largest_share(report, ranks, given, size) + overhead_s
    pays = _pays(size.seconds, parallel_s)
    if pays:
        return Worth(WorthVerdict.PAYS, size, parallel_s, least_s)
    never = _is_light(report, ranks, size)
    return Worth(WorthVerdict.TOO_SMALL, size, parallel_s, least_s, never=never)


def measured_size(time: LoopTime) -> LoopSize:
    """The mean size of the runs that a profile has seen; nothing is known of a loop that it has not."""
    if not time.runs:
        return LoopSize()
    return LoopSize(round(time.iterations / time.runs), time.seconds / time.runs)


def _size_of_any(report: LoopReport, given: Mapping[str, Number]) -> LoopSize:
    """As `size_of`; nothing is known of a loop whose own text has a number that cannot be computed."""
    try:
        return size_of(report, given)
    except NumberError:
        try:
            size_of(report, {})
        except NumberError:
            return LoopSize()
        raise  # a number that was given is at fault


def size_of(report: LoopReport, given: Mapping[str, Number]) -> LoopSize:
    """The size of a loop by its text and the given numbers; NumberError for numbers that make no sense."""
    numbers = LoopNumbers(report.loop, report.space, given)
    span = find_iterations(report.loop.node.iter, numbers)
    cost, plan = report.partition_cost, report.plan
    assert plan is not None, "the loop is proved"
    n = None if span is None else len(span.values)
    if cost is None or cost.work is None:
        return LoopSize(n, None, 0.0, tuple(numbers.missing))
    known: dict[Variable | Apply, IntegerForm] = {
        v: IntegerForm.literal(value) for v, value in numbers.parameters.items()
    }
    work = cost.work.replaced(known)
    asked = {v.name for v in work.variables if v.kind is VariableKind.PARAMETER}
    missing = tuple(dict.fromkeys((*numbers.missing, *sorted(asked))))
    if span is None or n is None or asked:
        return LoopSize(n, None, 0.0, missing)
    operations: float | None = None
    if n == 0:
        operations = 0.0
    elif cost.cost_class is CostClass.UNIFORM:
        operations = None if work.constant is None else float(work.constant) * n
    elif (found := find_work(report, plan, numbers, span).known) is not None:
        operations = float(found.before([n])[0])
    seconds = None if operations is None else operations * OPERATION_S
    return LoopSize(n, seconds, _bytes(report, numbers, n), missing)


def _bytes(report: LoopReport, numbers: LoopNumbers, iterations: int | None) -> float:
    """Bytes of the rows of distributed arrays, there and back; those of unknown length count as none."""
    assert report.plan is not None, "the loop is proved"
    return bytes_of_rows(report.plan, numbers, iterations or 0)


def _overhead_s(report: LoopReport, ranks: int, size: LoopSize) -> float:
    """Seconds that sharing a run costs, rows and what iterations contribute included."""
    assert report.plan is not None, "the loop is proved"
    return overhead(ranks, size.bytes, contributed_s(report.plan, size.iterations or 0, size.seconds))


def _pays(alone_s: float, parallel_s: float) -> bool:
    return parallel_s <= alone_s * (1 - _LEAST_GAIN)


def _least_s(ranks: int, overhead_s: float) -> float | None:
    """The seconds S from which on S / P + overhead is less than S by the least gain; None if it never is."""
    saved = 1 - _LEAST_GAIN - 1 / ranks
    return overhead_s / saved if saved > 0 else None


def _largest_share(report: LoopReport, ranks: int, given: Mapping[str, Number], size: LoopSize) -> float:
    """The work of the rank with most of it, as part of all work."""
    n = size.iterations or 0
    even = ceil(n / ranks) / n if n else 1.0
    try:
        estimates: Sequence[Mapping[str, float]] = ranks_as_json(report, RankSpec(ranks, None, given))[
            "estimates"
        ]
    except NumberError:
        return even
    return min(estimates[-1]["largest_over_ideal"] / ranks, 1.0) if estimates else even


def _is_light(report: LoopReport, ranks: int, size: LoopSize) -> bool:
    """Whether what iterations contribute takes longer than is saved of their work."""
    if not size.seconds or report.plan is None:
        return False
    in_order_s = contributed_s(report.plan, size.iterations or 0, size.seconds)
    return not _pays(size.seconds, size.seconds / ranks + in_order_s)


def _is_light_by(report: LoopReport, ranks: int, given: Mapping[str, Number], names: Sequence[str]) -> bool:
    """The same of a large size, where that is known once the missing numbers are."""
    try:
        return _is_light(report, ranks, size_of(report, {**given, **dict.fromkeys(names, 2**_LARGEST)}))
    except NumberError:
        return False


def _smallest(
    report: LoopReport, ranks: int, given: Mapping[str, Number], names: Sequence[str], stays: bool
) -> int | None:
    """The least power of two that makes the loop pay where all missing numbers have it."""

    def pays(exponent: int) -> bool:
        try:
            numbers = {**given, **dict.fromkeys(names, 2**exponent)}
            size = size_of(report, numbers)
        except NumberError:
            return False
        overhead_s = _overhead_s(report, ranks, replace(size, bytes=0.0) if stays else size)
        if size.seconds is None or _least_s(ranks, overhead_s) is None:
            return False
        return _pays(size.seconds, size.seconds * _largest_share(report, ranks, numbers, size) + overhead_s)

    exponents = range(_LARGEST + 1) if names else range(0)
    return next((2**exponent for exponent in exponents if pays(exponent)), None)
