"""Runs of compiled loops by rank 0 alone, repeated without being prepared anew.

Preparing a run of a loop takes a tenth of a millisecond, which is longer than many compiled loops take. What
it finds out depends on the kernel and on the kinds of its arguments. So a run by rank 0 alone that did
nothing but what compiled iterations do is remembered, and where the same holds again these are called at
once. Where there are other ranks, only runs that are far too short to be shared are repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any

import numpy as np

from dlbrt.balance.strategies import AUTO
from dlbrt.data.memory import address
from dlbrt.data.shown_warnings import collects_warnings
from dlbrt.data.space import RangeSpace
from dlbrt.data.spans import EMPTY, Spans
from dlbrt.emulation import LoadSpec
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.perform import RankResult
from dlbrt.mpi.team import clock
from dlbrt.native.arguments import NotCompiled, check_error_state

if TYPE_CHECKING:
    from dlbrt.mpi.root.preparation import Preparation
    from dlbrt.mpi.root.runtime import RootRuntime
    from dlbrt.native.chunks import CompiledChunks

#: Longer runs poll for signals while they go on; preparing one costs little beside it.
_LONGEST_S = 0.02

#: Repeated runs whose figures are added up before they are entered in the statistics.
_ENTERED_AT_ONCE = 16

#: The types of arguments of which the type, and how an array lies in memory, decide what is compiled.
_SCALARS = frozenset({float, int, bool, complex, np.float64, np.int64, np.bool_, np.complex128})
_INTEGERS = frozenset({int, np.int64})

#: The flags of arrays that say how they lie in memory: contiguous (C, Fortran), aligned, writeable.
_LAYOUT = 0x1 | 0x2 | 0x100 | 0x400

#: So many kinds of arguments of a loop are remembered.
_MAX_KINDS = 4

#: A run that may also be shared is repeated if it is expected to take this part of what sharing costs.
_FAR_SHORTER = 0.25


def is_all_compiled(prepared: Preparation, loop: LoopContext, results: Sequence[RankResult]) -> bool:
    """Whether a run did nothing but what compiled iterations do, which has no other effects."""
    options, chunks = prepared.root_runtime.options, loop.walk.chunks
    untouched = options.load == LoadSpec() and not (options.trace or options.trial)
    compiled = chunks is not None and chunks.leaves_nothing and chunks.takes(prepared.named)
    kernel = prepared.kernel
    plain = type(prepared.space) is RangeSpace and kernel.__closure__ is None and kernel.__defaults__ is None
    effects = loop.contributions.kinds or loop.generators or loop.unseen_calls or loop.profiled
    ended = not any(each.failure or each.kept or each.withheld for each in results)
    return plain and untouched and compiled and ended and not effects


class SoloRuns:
    """The runs that rank 0 can repeat alone, by the code of their kernels."""

    def __init__(self, root_runtime: RootRuntime) -> None:
        self._root_runtime = root_runtime
        self._known: dict[CodeType, list[_SoloRun]] = {}
        self._left_over: set[CodeType] = set()

    def note(self, prepared: Preparation, loop: LoopContext, result: RankResult, strategy: str) -> None:
        """Rank 0 has done a whole loop alone: remember it if that can be repeated."""
        several = self._root_runtime.communicator.ranks > 1
        automatic = (loop.strategy or self._root_runtime.options.strategy) in (None, AUTO)
        code = prepared.kernel.__code__
        if code in self._left_over or (several and not automatic):
            return
        if is_all_compiled(prepared, loop, [result]):
            known = self._known.setdefault(code, [])
            if len(known) == _MAX_KINDS:
                known.pop().enter()
            known.insert(0, _SoloRun(prepared, loop, strategy, several))

    def run(self, kernel: Callable[..., None], iterable: object, arguments: Sequence[Any]) -> Spans | None:
        """Repeat a run; the positions that it leaves to Python. None where it is no repetition."""
        known = self._known.get(kernel.__code__)
        if known is None or type(iterable) is not range:
            return None
        with self._root_runtime.turn() as leads:
            found = next((each for each in known if leads and each.suits(iterable, arguments)), None)
            if found is None:
                return None
            started = clock()
            left = found.run(iterable, arguments)
            if (progress := self._root_runtime.progress) is not None and not left:
                history = found.history
                progress.repeated(history.key, history.source, len(iterable), clock() - started)
            if left:  # so it may be each time
                self._left_over.add(kernel.__code__)
                self._enter(self._known.pop(kernel.__code__))
            return left

    def enter(self) -> None:
        """Enter what has been repeated in the statistics."""
        for known in self._known.values():
            self._enter(known)

    def _enter(self, known: Sequence[_SoloRun]) -> None:
        for each in known:
            each.enter()


class _SoloRun:
    """A run of a compiled loop by rank 0 alone; ``several``: other ranks could have a share of it."""

    def __init__(self, prepared: Preparation, loop: LoopContext, strategy: str, several: bool) -> None:
        assert loop.walk.chunks is not None
        self._chunks: CompiledChunks = loop.walk.chunks
        self.history = prepared.loop_history
        self._strategy = strategy
        names, spec = tuple(prepared.named), self._chunks.spec
        self._places = tuple(map(names.index, spec.names))
        self._stored = [number for number, name in enumerate(spec.names) if name in spec.stored]
        own = self._own(prepared.arguments)
        self._kinds = _kinds(own)
        self._work = _work_of(own) if several else None
        self._iterations = len(prepared.space)
        self._apart: Places = ()  # of arrays of which those stored to share no memory with others
        self._runs = self._done = 0
        self._compute_s = self._elapsed_s = 0.0
        self._chunks.bind(())

    def _own(self, arguments: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(arguments[place] for place in self._places)

    def suits(self, values: range, arguments: Sequence[Any]) -> bool:
        """Whether a run over these values of the index, with these arguments, would be a repetition."""
        own, sharing = self._own(arguments), self.history.sharing
        expected_s = sharing.alone_s(len(values))
        if expected_s > _LONGEST_S or self._kinds is None or _kinds(own) != self._kinds:
            return False
        if self._work is not None:
            trial_s = sharing.trial_s(len(values))
            if trial_s is None or expected_s > _FAR_SHORTER * trial_s:
                return False
            if len(values) > self._iterations or _work_of(own) != self._work:
                return False
        return self._is_compiled() and self._is_apart(own) and self._fits(values, own)

    def _is_compiled(self) -> bool:
        """Whether the compiled code still does what Python does."""
        try:
            check_error_state()
        except NotCompiled:
            return False
        if collects_warnings():
            return False
        return self._chunks.unchanged()

    def _is_apart(self, own: tuple[Any, ...]) -> bool:
        """Whether no array that is stored to shares memory with another."""
        places = _places(own)
        if places == self._apart:
            return True
        for number in self._stored:
            for other, array in enumerate(own):
                both = type(array) is np.ndarray and other != number
                if both and np.may_share_memory(own[number], array):
                    return False
        self._apart = places
        return True

    def _fits(self, values: range, own: tuple[Any, ...]) -> bool:
        """Whether the integers are small enough, and the subscripts of all iterations in range."""
        if not values:
            return True
        bits = self._chunks.spec.bits
        ends = values[0], values[-1]
        if any(type(each) in _INTEGERS and int(each).bit_length() > bits for each in (*ends, *own)):
            return False
        check = self._chunks.spec.fits
        return check is None or bool(check(min(ends), max(ends), *own))

    def run(self, values: range, arguments: Sequence[Any]) -> Spans:
        """Run the iterations; the positions that are left to Python."""
        started, own = clock(), self._own(arguments)
        self._chunks.bind(own)
        computing = clock()
        done = self._chunks.run_fitting(values) if values else 0
        ended = clock()
        self._chunks.bind(())
        self._runs += 1
        self._done += done
        self._compute_s += ended - computing
        self._elapsed_s += clock() - started
        if self._runs == _ENTERED_AT_ONCE or done < len(values):
            self.enter()
        return EMPTY if done == len(values) else Spans.of(range(done, len(values)))

    def enter(self) -> None:
        """Enter the runs since the last time in the statistics."""
        if self._runs:
            seconds = self._compute_s, self._elapsed_s
            self.history.learn_alone(self._strategy, self._runs, self._done, *seconds)
        self._runs = self._done = 0
        self._compute_s = self._elapsed_s = 0.0


#: Address, shape and strides of arrays.
Places = tuple[tuple[int, tuple[int, ...], tuple[int, ...]], ...]


def _kinds(arguments: Sequence[Any]) -> tuple[Any, ...] | None:
    """What decides which code is compiled for them; None where other things do as well."""
    found: list[Any] = []
    for each in arguments:
        kind = type(each)
        if kind is np.ndarray:
            found.append((each.dtype, each.ndim, each.flags.num & _LAYOUT))
        elif kind in _SCALARS:
            found.append(kind)
        else:
            return None
    return tuple(found)


def _places(arguments: Sequence[Any]) -> Places:
    arrays = (each for each in arguments if type(each) is np.ndarray)
    return tuple((address(each), each.shape, each.strides) for each in arrays)


def _work_of(arguments: Sequence[Any]) -> tuple[Any, ...]:
    """What bounds of inner loops may depend on: shapes and integers."""
    return tuple(
        each.shape if type(each) is np.ndarray else each if type(each) in _INTEGERS else None
        for each in arguments
    )
