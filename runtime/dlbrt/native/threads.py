"""A chunk on several threads of one rank: sub-chunks from a shared counter, in iteration order.

Compiled chunk functions release the interpreter lock, and iterations are independent, so threads change no
bit. Sub-chunks shrink with what is left (guided self-scheduling, Polychronopoulos and Kuck 1987; a thread
takes 1/(K P) of the rest), so uneven iterations balance without many calls. Each call gets results of its
own, since a chunk function counts from the first iteration that it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from threading import Lock
from typing import Any

import numpy as np

from dlbrt.native.numerics import COUNT, Results, count_notes, new_results
from dlbrt.records import dataclass

#: A thread takes this part of its share of what is left.
_PARTS = 4


@dataclass(frozen=True, slots=True)
class SubChunk:
    """Iterations ``range(first, last, step)`` that one call was given, and how far it came.

    ``reached``: the first iteration that is not done, ``last`` if all are. ``results``: what its iterations
    put, counted from ``first``.
    """

    first: int
    last: int
    reached: int
    results: Results


def run_threads(
    compiled: Callable[..., int],
    first: int,
    last: int,
    step: int,
    arguments: Sequence[Any],
    threads: int,
    rows: int = 0,
) -> tuple[int, list[SubChunk]]:
    """Run ``compiled(first, last, step, results, *arguments)`` on ``range(first, last, step)``, in parts.

    Returns the first iteration that is not done, ``last`` if all are, and the parts that were begun, in
    iteration order. Iterations after the first returned may be done as well: those of other parts up to what
    they have reached. ``rows``: of the results. What a part raises is raised once all have ended.
    """
    count = len(range(first, last, step))
    if threads < 2 or count < 2:
        whole = _run(compiled, first, last, step, arguments, rows)
        return whole.reached, [whole]
    counter = _Counter(count, threads)

    def work() -> list[SubChunk]:
        done = []
        try:
            while (taken := counter.take()) is not None:
                begin, end = (first + step * position for position in taken)
                end = last if taken[1] == count else end
                done.append(_run(compiled, begin, end, step, arguments, rows))
                if done[-1].reached != end:
                    counter.stop()
        except BaseException:
            counter.stop()
            raise
        return done

    futures = [_pool(threads).submit(work) for _ in range(min(threads, count))]
    wait(futures)
    parts = sorted(
        (part for future in futures for part in future.result()), key=lambda part: part.first * step
    )
    return next((part.reached for part in parts if part.reached != part.last), last), parts


def join_results(parts: Sequence[SubChunk], step: int, noted: Sequence[int] = ()) -> Results:
    """The results of consecutive parts, the last of which may have stopped, in one piece.

    ``noted``: results that number notes, as the next ones do.
    """
    if len(parts) == 1:
        return parts[0].results
    lengths = [len(range(part.first, part.reached, step)) for part in parts]
    integers, floats, kinds = new_results(len(parts[0].results[0]), sum(lengths))
    start = notes = 0
    for part, length in zip(parts, lengths, strict=True):
        own = slice(start, start + length)
        integers[:, own] = part.results[0][:, :length]
        kinds[:] = kinds | part.results[2]
        start += length
        for number in noted:
            integers[number : number + 2, own] += notes
        notes += count_notes(part.results) if noted else 0
    if not noted:
        return integers, floats, kinds
    joined = np.concatenate([part.results[3][:, : count_notes(part.results)] for part in parts], axis=1)
    state = np.bitwise_or.reduce([part.results[5] for part in parts])
    state[COUNT] = notes
    return integers, floats, kinds, joined, joined.view(np.float64), state


def _run(
    compiled: Callable[..., int], first: int, last: int, step: int, arguments: Sequence[Any], rows: int
) -> SubChunk:
    results = new_results(rows, len(range(first, last, step)))
    return SubChunk(first, last, compiled(first, last, step, results, *arguments), results)


class _Counter:
    """The positions that are not taken yet."""

    def __init__(self, count: int, threads: int) -> None:
        self._next, self._count, self._parts = 0, count, threads * _PARTS
        self._lock = Lock()

    def take(self) -> tuple[int, int] | None:
        """The positions from the first up to the second; None if none is left."""
        with self._lock:
            left = self._count - self._next
            if left <= 0:
                return None
            begin, self._next = self._next, self._next + max(1, left // self._parts)
            return begin, self._next

    def stop(self) -> None:
        """Give out nothing more; all that comes before what was given out has been given out too."""
        with self._lock:
            self._next = self._count


_pools: dict[int, ThreadPoolExecutor] = {}


def _pool(threads: int) -> ThreadPoolExecutor:
    """Threads that stay from one chunk to the next."""
    if threads not in _pools:
        _pools[threads] = ThreadPoolExecutor(threads, "dlb")
    return _pools[threads]
