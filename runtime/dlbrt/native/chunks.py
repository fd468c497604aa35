"""The compiled iterations of one loop on one rank: which form of them runs, and what it leaves to Python.

A chunk is run only if its subscripts are in range (``fits``). Where those of some iterations are not, or one
of them finds that it cannot do what Python does, it is left to Python, and compiled chunks go on after it.

There may be several forms of a chunk function, whose loops run in different orders with the same bits. The
first is the one that the compiler expects to be the fastest; a chunk is run in two forms, part by part in
turn, and the faster one goes on.
"""

from __future__ import annotations

import dis
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import repeat, starmap
from types import FunctionType
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, ref

import numpy as np

from dlbrt.native.arguments import NotCompiled, admit
from dlbrt.native.chunk_spec import ChunkSpec, check, check_axes, check_integers, is_float, is_integer
from dlbrt.native.compiler import compile_chunk, functions_of
from dlbrt.native.numerics import (
    UNSET,
    Results,
    count_notes,
    is_full,
    new_notes,
    new_results,
    read_array,
    read_results,
)
from dlbrt.native.threads import SubChunk, join_results, run_threads
from dlbrt.reductions.numbers import Numbers

Compiled = Callable[..., int]

#: In which of two forms the parts of chunks are run to compare them, pair by pair. One pair may be disturbed,
#: and iterations may cost more and more: so the median of three decides, and not all begin alike.
_TURNS = (1, 0, 0, 1, 1, 0)

#: The least seconds that a part is expected to take: less are not worth a comparison. The second form is
#: chosen if it takes this part of the time of the first at most.
_LEAST_S, _CLEARLY = 50e-6, 0.9

#: The room for notes at first, and by what it grows where that is too little for a chunk.
_NOTES, _MORE_NOTES = 4096, 4

#: The kinds of results that are numbers (`dlbrt.native.numerics.read_array`).
_INTEGER, _FLOAT = 2, 3

#: The form that has turned out to be the fastest, by the one as written.
_fastest: WeakKeyDictionary[FunctionType, ReferenceType[FunctionType]] = WeakKeyDictionary()

#: Until that is known, the seconds of an iteration in each turn, by the form as written: a run, or a rank's
#: share of it, may be too short for all turns.
_turns: WeakKeyDictionary[FunctionType, list[float]] = WeakKeyDictionary()


class CompiledChunks:
    """Chunks of one run of a loop, compiled for its arguments; raises NotCompiled."""

    def __init__(self, spec: ChunkSpec, arguments: Sequence[Any], threads: int = 1) -> None:
        self._spec = spec
        # Another thread may have stored what an iteration that is done again would read; notes are in order.
        self._threads = 1 if spec.in_place or spec.noted else threads
        self._room = _NOTES
        named = dict(zip(spec.names, arguments, strict=True))
        self._arguments = admit(spec.names, arguments)
        admitted = dict(zip(spec.names, self._arguments, strict=True))
        check(spec, named, admitted)
        #: Identities of the lists that are copied to arrays: all of their elements have to be there.
        self.lists = {id(value) for value in arguments if isinstance(value, list)}
        self._given = [value if isinstance(value, list | np.ndarray) else None for value in arguments]
        self._copies = any(a is not b for a, b in zip(arguments, self._arguments, strict=True))
        for name, value, array in zip(spec.names, arguments, self._arguments, strict=True):
            if name in spec.integers:
                check_integers(name, array, spec.bits)
            elif isinstance(value, list) and name not in spec.index_only and is_integer(array):
                raise NotCompiled(f"`{name}` is a list of integers, which in Python have any size")
        check_axes(spec, admitted)
        self._results = self._new_results(0)
        self._parts: list[SubChunk] = []  # of the chunk under way
        usable = _usable(spec, admitted)
        self._forms = [self._compiled(form) for form in usable]
        self._functions = [*starmap(functions_of, zip(usable, self._forms, strict=True))]
        self._alone = 1
        self._iteration_s = 0.0  # in the first form, when it last ran out of turn
        self._turns_s = _turns.setdefault(spec.forms[-1], [])
        del self._turns_s[len(self._turns_s) // 2 * 2 :]  # the other half of a pair would be of another run
        self._rows = [(named[name], (slice(None),) * axis) for name, axis in spec.rows.items()]
        self._before: list[Any] = []
        self._values = range(0)
        kinds = {name: isinstance(value, np.ndarray | np.generic) for name, value in named.items()}
        kinds["numpy"] = True
        self._numpy = [any(kinds.get(name) for name in column) for column in spec.columns]
        self._notes_numpy = [any(kinds.get(name) for name in row) for row in spec.notes]
        self._numpy_bits = sum(1 << k for k, name in enumerate(spec.origins) if kinds[name])

    def _compiled(self, form: FunctionType) -> Compiled:
        arguments = (0, 0, 1, self._results, *self._arguments)
        return compile_chunk(form, arguments)

    def run(self, values: range) -> int:
        """Run the iterations with these values of the index as far as possible; returns how many are done."""
        count = self._fitting(values)
        if not count:
            return 0
        self._keep(values[:count])
        done = self.run_fitting(values[:count])
        self._alone = 1 if done else self._alone
        return done

    def run_fitting(self, values: range) -> int:
        """As `run`, for iterations whose subscripts are in range, and of which nothing is kept."""
        self._parts.clear()
        done = int(self._in_best_form(values) - values.start) // values.step
        if self._spec.columns and self._parts:
            self._results = join_results(self._parts, values.step, tuple(self._spec.noted))
        return done

    def bind(self, arguments: tuple[Any, ...]) -> None:
        """Run on with other arguments of the same types and layouts, which are taken as they are."""
        self._arguments, self._given = arguments, []

    @property
    def leaves_nothing(self) -> bool:
        """Whether iterations store to arrays alone, and the arguments are taken as they are."""
        return not (self._spec.columns or self._spec.rows or self._copies)

    def in_strips(self, count: int) -> int:
        """So many iterations rounded up to whole strips, unless that would more than double them."""
        strip = self._spec.strip
        return -(-count // strip) * strip if 2 * count >= strip else count

    @property
    def runs_through(self) -> bool:
        """Whether no iteration can turn out to be one for Python, once the subscripts are in range."""
        return all(map(_runs_through, self._spec.forms))

    def takes(self, named: Mapping[str, Any]) -> bool:
        """Whether its arguments are these, by their names."""
        pairs = zip(self._spec.names, self._arguments, strict=True)
        return all(name in named and named[name] is value for name, value in pairs)

    @property
    def spec(self) -> ChunkSpec:
        """What the kernel says of its chunk functions."""
        return self._spec

    def reads(self, lists: Sequence[list[Any]], changed: Sequence[Any]) -> str:
        """An argument that Python changes, whole or in part; empty if there is none.

        It stores to the elements of ``lists``, and to what is ``changed`` at any depth.
        """
        held, arrays = set[int](), list[Any]()
        for each in changed:
            _reach(each, held, arrays)
        held.update(map(id, lists))
        if not (held or arrays):
            return ""
        for name, value in zip(self._spec.names, self._given, strict=True):
            if isinstance(value, list):
                own, inner = set[int](), list[Any]()
                _reach(value, own, inner)
                if not held.isdisjoint(own):
                    return name
            if isinstance(value, np.ndarray) and any(np.may_share_memory(value, each) for each in arrays):
                return name
        return ""

    def unchanged(self) -> bool:
        """Whether the names that the functions use still have the values that they were compiled with."""
        return all(each.unchanged() for each in self._functions)

    def _run(self, form: Compiled, values: range) -> int:
        """Run iterations in one form; returns the first index that is not done."""
        rows, last = len(self._spec.columns), values.start + len(values) * values.step
        if self._threads > 1:
            stop, parts = run_threads(
                form, values.start, last, values.step, self._arguments, self._threads, rows
            )
            self._parts += [part for part in parts if len(range(part.first, stop, values.step))]
            return stop
        if not rows:
            return form(values.start, last, values.step, self._results, *self._arguments)
        begin = values.start
        while True:
            results = self._new_results(len(range(begin, last, values.step)))
            stop = form(begin, last, values.step, results, *self._arguments)
            self._parts.append(SubChunk(begin, last, stop, results))
            if not self._spec.noted or stop == last or not is_full(results):
                return stop
            begin, self._room = stop, self._room * _MORE_NOTES

    def _new_results(self, length: int) -> Results:
        """Room for the results of so many iterations."""
        results = new_results(len(self._spec.columns), length)
        return (*results, *new_notes(len(self._spec.notes), self._room)) if self._spec.noted else results

    def _keep(self, values: range) -> None:
        """Keep the rows that iterations are about to store to."""
        if self._rows:
            self._values = values
            self._before = [array[(*axes, np.array(values))] for array, axes in self._rows]

    def undo(self, done: int) -> None:
        """Restore what the last iterations run have stored, but for the first ``done`` of them."""
        rows = np.array(self._values[done:], dtype=np.int64)
        for (array, axes), before in zip(self._rows, self._before, strict=True):
            array[(*axes, rows)] = before[(*axes, slice(done, None))]

    def alone(self) -> int:
        """How many iterations to leave to Python after one that could not be run."""
        count, self._alone = self._alone, min(2 * self._alone, 1024)
        return count

    def numbers(self, count: int) -> list[Numbers] | None:
        """What the last iterations run have left, in numbers of one type each; None where that is not so."""
        kinds = [int(kind) for kind in self._results[2]]
        if self._spec.origin_columns or not {_INTEGER, _FLOAT}.issuperset(kinds):
            return None
        types = {(_INTEGER, False): int, (_INTEGER, True): np.int64, (_FLOAT, False): float}
        return [
            Numbers(types.get((kind, numpy), np.float64), read_array(self._results, number, count))
            for number, (kind, numpy) in enumerate(zip(kinds, self._numpy, strict=True))
        ]

    def columns(self, count: int) -> Iterator[Iterator[Any]]:
        """What the last iterations run have left, one iterator for each column."""
        kinds = self._results[2]
        origins = self._spec.origin_columns
        for number, numpy in enumerate(self._numpy):
            if number in origins.values() or number - 1 in self._spec.noted:
                continue
            if not kinds[number + (number in self._spec.noted)]:
                yield repeat(None)  # no iteration has come to it, or to the end of its notes
            elif number in self._spec.noted:
                yield self._notes(number, count)
            elif number in origins:
                bits = read_array(self._results, origins[number], count)
                found = read_array(self._results, number, count)
                yield _either(found, (bits & self._numpy_bits) != 0)
            elif numpy:
                yield iter(read_array(self._results, number, count))
            else:
                yield iter(read_results(self._results, number, count))

    def _notes(self, number: int, count: int) -> Iterator[Any]:
        """The notes of each iteration: numbers, or tuples of them."""
        rows = [self._note_row(row) for row in self._spec.noted[number]]
        begins, ends = (read_results(self._results, k, count) for k in (number, number + 1))
        if not rows:
            return map(range, begins, ends)
        return (_between(rows, begin, end) for begin, end in zip(begins, ends, strict=True))

    def _note_row(self, row: int) -> Any:
        """The numbers in a row of all notes; undefined where others left the note."""
        notes, count = self._results[3:], count_notes(self._results)
        if notes[2][row] == UNSET:
            return [None] * count
        found = read_array(notes, row, count)
        if row in self._spec.note_origins:
            bits = read_array(notes, self._spec.note_origins[row], count)
            return list(_either(found, (bits & self._numpy_bits) != 0))
        return found if self._notes_numpy[row] else found.tolist()

    def _fitting(self, values: range) -> int:
        """How many of the iterations, from the first, have their subscripts in range."""
        fits, count = self._spec.fits, len(values)
        if fits is None or not count:
            return count
        while count:
            ends = (values[0], values[count - 1])
            try:
                if fits(min(ends), max(ends), *self._arguments):
                    return count
            except (IndexError, AttributeError, TypeError):
                return 0  # an array has fewer axes than subscripts
            count //= 2
        return 0

    def _in_best_form(self, values: range) -> int:
        """Run iterations in the form that is fastest, as far as that is known; returns as `_run`."""
        if values.step != 1 and self._spec.strip > 1:
            return self._run(self._forms[-1], values)
        if len(self._forms) < 2 or self._spec.forms[-1] in _fastest:
            return self._run(self._forms[0], values)
        stop = values.start
        while values:
            turn = self._turn(values)
            part, form = (turn, _TURNS[len(self._turns_s)]) if turn else (values, 0)
            started = time.perf_counter()
            stop = self._run(self._forms[form], part)
            iteration_s = (time.perf_counter() - started) / len(part)
            if stop != part.start + len(part) * part.step:
                break
            values = values[len(part) :]
            if turn:
                self._turns_s.append(iteration_s)
                if len(self._turns_s) == len(_TURNS):
                    self._choose()
            else:
                self._iteration_s = iteration_s
        return stop

    def _turn(self, values: range) -> range:
        """The part of a chunk that is run next to compare two forms; empty where nothing is compared.

        It has whole strips, since less does not show how fast a form is that takes strips.
        """
        strip = self._spec.strip
        part = values[: max(len(values) // len(_TURNS), strip) // strip * strip]
        is_long = len(part) >= strip and len(part) * self._iteration_s >= _LEAST_S
        return part if is_long and len(self._turns_s) < len(_TURNS) else range(0)

    def _choose(self) -> None:
        """Choose between two forms by the turns that they have had."""
        pairs = zip(_TURNS[::2], self._turns_s[::2], self._turns_s[1::2], strict=True)
        ratios = sorted(one / other if form else other / one for form, one, other in pairs)
        second = ratios[len(ratios) // 2] < _CLEARLY
        if second:
            del self._forms[0]
        written = self._spec.forms[-1]
        _fastest[written] = ref(self._spec.forms[int(second)])
        _turns.pop(written, None)


def _either(found: Any, of_numpy: Any) -> Iterator[Any]:
    """What iterations have left, as numbers of numpy where ``of_numpy``, else of Python."""
    return (a if numpy else b for a, b, numpy in zip(found, found.tolist(), of_numpy, strict=True))


def _reach(value: Any, held: set[int], arrays: list[Any]) -> None:
    """Add the identities of containers, and arrays, that can be reached from a value through containers."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
    elif isinstance(value, _CONTAINERS) and id(value) not in held:
        held.add(id(value))
        inner = value.values() if isinstance(value, dict) else value
        if not _PLAIN.issuperset(map(type, inner)):
            for each in inner:
                _reach(each, held, arrays)


_CONTAINERS = (list, dict, tuple, set, deque)
_PLAIN = frozenset((int, float, bool, complex, str, type(None), np.float64, np.int64, np.bool_))


def _between(rows: Sequence[Any], begin: int, end: int) -> Iterator[Any]:
    """The notes from one to another, cut out when they are asked for: not all iterations have any."""
    if len(rows) == 1:
        yield from rows[0][begin:end]
    else:
        yield from zip(*(row[begin:end] for row in rows), strict=True)


@cache
def _runs_through(form: FunctionType) -> bool:
    """Whether a chunk function returns nothing but ``last``."""
    before = ""
    for each in dis.get_instructions(form):
        if each.opname.startswith("RETURN") and before != "last":
            return False
        before = str(each.argval) if each.opname.startswith("LOAD_FAST") else ""
    return True


def _usable(spec: ChunkSpec, named: Mapping[str, Any]) -> Sequence[FunctionType]:
    """The forms that keep the bits for these arguments: the two best ones, and that as written."""
    arrays = [value for value in named.values() if isinstance(value, np.ndarray)]
    fit = all(is_float(named[name]) for name in spec.restructured_floats)
    if not fit or not all(a.flags.c_contiguous for a in arrays):
        return spec.forms[-1:]
    written = spec.forms[-1]
    chosen = [_fastest[written]()] if written in _fastest else spec.forms[:2]
    found = dict.fromkeys([*filter(None, chosen), written] if spec.strip > 1 else filter(None, chosen))
    return list(found) or [written]
