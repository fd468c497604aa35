"""A runtime in one process that keeps arrays away from the program as far as it may, to find missing wraps.

After each parallel loop of a routine, and after each statement of its sequential code, the arrays of its
loops are taken out of the program's memory: rank 0 holds garbage there until `read` or `write` brings
something back. What the program changes without `write` is lost. So a generated program gives other results
than its source wherever a wrap is missing, whatever the number of ranks would be. Loops themselves run in
order, on the true contents. Only within sequential loops that look into arrays as they go on, and within
`with`, does nothing leave between statements: no parallel loop runs there.

``python -m tests.support.away PROGRAM [ARGUMENT ...]`` transforms a program and runs it so.
"""

from __future__ import annotations

import ast
import os
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import dlbrt
import numpy as np
from dlbrt.data.array_table import ArraySpec
from dlbrt.data.space import space_of
from dlbrt.mpi.routines.reach import Rows, is_plain, reach_of
from dlbrt.reductions.kinds import ContributionKind
from numpy.lib.stride_tricks import as_strided

from dlbc.parse.read_source import read_source
from dlbc.pipeline import transform

__all__ = ["Away", "AwaySession", "forgetful", "run"]

_UNSET = object()


class Unbound:
    """The value of a name that has none."""


@dataclass(eq=False)
class _Memory:
    """The memory of one array that owns it, element by element in the order of addresses.

    ``away`` is what the ranks hold; ``stale`` where that alone is valid, ``changed`` where rank 0's is.
    """

    owner: np.ndarray
    away: np.ndarray = field(init=False)
    stale: np.ndarray = field(init=False)
    changed: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.home = self.owner.ravel(order="K").view() if self.owner.ndim else self.owner.reshape(1)
        assert np.shares_memory(self.home, self.owner) or self.owner.size == 0
        self.away = self.home.copy()
        self.stale = np.zeros(self.home.shape, bool)
        self.changed = np.ones(self.home.shape, bool)

    def is_current(self) -> bool:
        """Whether the owner still has that memory: it may have been resized in place."""
        now, then = self.owner.__array_interface__, self.home.__array_interface__
        return bool(now["data"] == then["data"] and self.owner.nbytes == self.home.nbytes)

    def elements(self, array: np.ndarray) -> np.ndarray:
        """The numbers of the elements of an array that lies in this memory."""
        numbers = np.arange(self.home.size)
        size = self.home.itemsize
        if array.size == 0 or array.itemsize != size or any(s % size for s in array.strides):
            return numbers
        first = array.__array_interface__["data"][0] - self.home.__array_interface__["data"][0]
        strides = [s // size * numbers.itemsize for s in array.strides]
        return as_strided(numbers[first // size :], array.shape, strides).ravel()

    def fetch(self, elements: np.ndarray) -> None:
        """Make elements valid at rank 0."""
        gone = elements[self.stale[elements]]
        self.home[gone] = self.away[gone]
        self.stale[gone] = False

    def begin(self) -> None:
        """Let the ranks' loop see the true contents: nothing of what rank 0 did not say."""
        self.away[self.changed] = self.home[self.changed]
        self.changed[:] = False
        self.home[:] = self.away

    def leave(self) -> None:
        """Let rank 0 have nothing, and the ranks everything."""
        self.away[self.changed] = self.home[self.changed]
        self.changed[:] = False
        self.stale[:] = True
        self.home[:] = _garbage(self.away)

    def end(self, stored: np.ndarray) -> None:
        """After a loop that stored there: rank 0 has garbage where it is not valid."""
        self.away[:] = self.home
        self.stale[stored] = True
        self.home[self.stale] = _garbage(self.away[self.stale])


def _garbage(true: np.ndarray) -> np.ndarray:
    if true.dtype.kind in "fc":
        return np.full_like(true, np.nan)
    raw = np.ascontiguousarray(true).view(np.uint8)
    return (raw ^ (1 if true.dtype == bool else 0x5A)).view(true.dtype)


class _Result(dict[str, Any]):
    """What a loop leaves: values by name, and the last item."""

    ran = False
    last_item: Any = None
    reductions: tuple[str, ...] = ()
    error: BaseException | None = None

    def check(self) -> None:
        """Raise what the body raised."""
        if self.error is not None:
            raise self.error

    def reduced(self) -> Any:
        """The values of reductions: one, or several."""
        self.check()
        values = tuple(self[name] for name in self.reductions)
        return values[0] if len(values) == 1 else values


class Away:
    """One outermost routine: the memories of its arrays."""

    def __init__(self) -> None:
        self._memories: dict[int, _Memory] = {}
        self.fetched = 0

    def memory(self, array: np.ndarray) -> _Memory | None:
        """The memory that an array of a loop lies in, known from now on."""
        while isinstance(array.base, np.ndarray):
            array = array.base
        if array.dtype.hasobject or not (array.flags.c_contiguous or array.flags.f_contiguous):
            return None
        known = self._memories.get(id(array))
        if known is None or not known.is_current():
            known = self._memories[id(array)] = _Memory(array)
        return known

    def see(self, value: Any, subscripts: tuple[Any, ...], writing: bool) -> None:
        """Bring home what a value reaches; of an array that is subscripted, just that."""
        if isinstance(value, np.ndarray) and subscripts and not value.dtype.hasobject:
            part = value[subscripts if len(subscripts) > 1 else subscripts[0]]
            if isinstance(part, np.ndarray) and np.may_share_memory(part, value):
                self._bring([part], writing)
                return
            if not isinstance(part, np.ndarray):
                index = tuple(s for s in subscripts)
                self._bring([_element(value, index)], writing)
                return
        if is_plain(value):
            return
        reach = reach_of(value)
        if reach.everything:
            self._bring([m.owner for m in self._memories.values()], writing=True)
        self._bring(list(reach.arrays), writing or reach.active)

    def _bring(self, arrays: list[np.ndarray], writing: bool) -> None:
        for memory in filter(_Memory.is_current, self._memories.values()):
            for array in arrays:
                if np.may_share_memory(memory.owner, array):
                    elements = memory.elements(array)
                    self.fetched += int(memory.stale[elements].sum())
                    memory.fetch(elements)
                    if writing:
                        memory.changed[elements] = True

    def forget(self) -> None:
        """Take everything away, as the next statement could not complain of."""
        for memory in filter(_Memory.is_current, self._memories.values()):
            memory.leave()

    def leave(self) -> None:
        """Bring everything home."""
        self._bring([m.owner for m in self._memories.values()], writing=True)


def _element(array: np.ndarray, index: tuple[Any, ...]) -> np.ndarray:
    part = array
    for number, subscript in enumerate(index):
        axis = 0 if number == 0 else part.ndim - (array.ndim - number)
        size = part.shape[axis]
        start = int(subscript) % size if -size <= subscript < size else 0
        part = part[(slice(None),) * axis + (slice(start, start + 1),)]
    return part


class AwaySession:
    """Stands for ``dlb``, and for the routines that it begins."""

    def __init__(self, away: Away | None = None, log: list[Away] | None = None) -> None:
        self.away = away
        self.log = [] if log is None else log
        self._nested = away is not None

    # As a routine.

    def iterate(self, plain: Callable[[], tuple[Any, ...]] | None = None, **_clauses: Any) -> AwaySession:
        if plain is not None and not all(map(is_plain, plain())):
            raise AssertionError(f"taken for plain: {plain()}")
        return AwaySession(self.away, self.log)

    def __enter__(self) -> AwaySession:
        if self.away is None:
            self.away = Away()
            self.log.append(self.away)
        return self

    def __exit__(self, *_: object) -> None:
        if not self._nested and self.away is not None:
            self.away.leave()
            self.away = None

    def read(self, value: Any) -> Any:
        if self.away is not None:
            self.away.see(value, (), writing=False)
        return value

    def write(self, value: Any) -> Any:
        if self.away is not None:
            self.away.see(value, (), writing=True)
        return value

    def rows(self, value: Any, mode: str = "r") -> Any:
        return value if self.away is None else Rows(self.away.see, value, mode == "rw")

    def forget(self) -> None:
        if self.away is not None:
            self.away.forget()

    def items(self, iterable: Iterable[Any]) -> Iterator[Any]:
        iterator = iter(self.write(iterable))
        while True:
            try:
                item = next(self.write(iterator))
            except StopIteration:
                return
            yield item

    # As a session: one rank does everything in order.

    def run(self, kernel: Callable[..., None], iterable: Iterable[Any], *arguments: Any, **_: Any) -> Any:
        return self._perform(kernel, iterable, arguments).reduced()

    def result_of(
        self, kernel: Callable[..., None], iterable: Iterable[Any], *arguments: Any, **_: Any
    ) -> _Result:
        return self._perform(kernel, iterable, arguments)

    def bound(self, value: Callable[[], Any]) -> Any:
        try:
            return value()
        except NameError:
            return Unbound()

    def _perform(self, kernel: Callable[..., None], iterable: Iterable[Any], arguments: Any) -> _Result:
        if self.away is not None:
            self.away.see(kernel, (), writing=False)  # functions that the body calls may look at arrays
        runner = _Runner(self.away, iterable)
        try:
            kernel(runner, *arguments)
        except Exception as error:
            runner.result.error = error
            runner.gather()
        return runner.result


class _Runner:
    """``dlb`` within a kernel."""

    unset = _UNSET

    def __init__(self, away: Away | None, iterable: Iterable[Any]) -> None:
        self._away, self._iterable = away, iterable
        self.result = _Result()
        self.more_work = True
        self._arrays: list[tuple[np.ndarray, bool]] = []
        self._others: dict[str, Any] = {}
        self._given: set[str] = set()
        self._bound: list[str] = []

    def _nothing(self, *_args: Any, **_kwargs: Any) -> None:
        pass

    def unbound(self, value: Any) -> bool:
        return isinstance(value, Unbound)

    schedule = require = watch = seeded = items = cost = profile = folded = _nothing

    def reductions(self, **kinds: ContributionKind) -> None:
        self._given |= kinds.keys()
        self._bound = [c for name, kind in kinds.items() if kind.bound for c in (name, *kind.companions)]
        values = sys._getframe(1).f_locals
        self.result.reductions = tuple(name for name, kind in kinds.items() if kind.bound)
        self.result.update((name, values[name]) for name in self.result.reductions)

    def ordered(self, *names: str, **_grows: bool) -> None:
        self._given |= set(names)

    grouped = ordered

    def arrays(self, *_dealt: Any, **table: ArraySpec) -> None:
        frame = sys._getframe(1)
        for name, spec in table.items():
            root, *attributes = name.split(".")
            value = frame.f_locals[root]
            for attribute in attributes:
                value = getattr(value, attribute)
            if isinstance(value, np.ndarray):
                self._arrays.append((value, spec.stores))
            else:
                self._others[name] = value
                self._given |= {name} if spec.stores else set()
        self._others |= {k: v for k, v in frame.f_locals.items() if k not in table}

    def scatter(self) -> None:
        if self._away is None:
            return
        for name, value in self._others.items():
            if not isinstance(value, _Runner | types.FunctionType):
                self._away.see(value, (), writing=name in self._given)
        for memory in self._touched():
            memory.begin()

    def _touched(self) -> list[_Memory]:
        assert self._away is not None
        found = [self._away.memory(array) for array, _ in self._arrays]
        return list(dict.fromkeys(memory for memory in found if memory is not None))

    def iterations(self, each: bool = False, apart: bool = False) -> Iterator[Any]:
        space = space_of(self._iterable)
        for item in space.items(range(len(space)))[0]:
            self.result.ran, self.result.last_item = True, item
            yield item

    pairs = iterations

    def accumulators(self, *values: Any) -> Any:
        return values if len(values) > 1 else values[0]

    accumulate = accumulators

    def keep(self, **values: Any) -> None:
        self.result.update((name, value) for name, value in values.items() if value is not _UNSET)

    keep_each = keep

    def reduce(self, *values: Any) -> None:
        self.keep(**dict(zip(self._bound, values, strict=True)))

    def synchronize(self) -> None:
        self.more_work = False

    def gather(self) -> None:
        if self._away is None:
            return
        for memory in self._touched():
            parts = [
                memory.elements(a) for a, stores in self._arrays if stores and self._away.memory(a) is memory
            ]
            memory.end(np.concatenate([np.empty(0, int), *parts]))


class _Forgetful(ast.NodeTransformer):
    """Puts a call of `AwaySession.forget` behind the statements of routines."""

    def __init__(self) -> None:
        self._routine = ""

    def visit_With(self, node: ast.With) -> Any:
        match node.items:
            case [ast.withitem(ast.Call(ast.Attribute(attr="iterate")), ast.Name(name))]:
                outer, self._routine = self._routine, name
                node.body = [self.visit(statement) for statement in node.body]
                self._routine = outer
        return node

    def visit_For(self, node: ast.For) -> Any:
        lazy = f"{self._routine}." in ast.unparse(node.iter) and not ast.unparse(node.iter).startswith(
            "range("
        )
        if lazy and not ast.unparse(node.iter).startswith(f"{self._routine}.items("):
            return node
        return self._within(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        outer, self._routine = self._routine, ""
        found = self._within(node)
        self._routine = outer
        return found

    def generic_visit(self, node: Any) -> Any:
        return self._within(node)

    def _within(self, node: Any) -> Any:
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                setattr(node, name, [new for part in block for new in self._followed(part)])
        return node

    def _followed(self, part: ast.AST) -> Iterator[ast.AST]:
        found = self.visit(part)
        yield found
        alone = isinstance(part, ast.Expr) and ast.unparse(part).startswith(
            (f"{self._routine}.read(", f"{self._routine}.write(")
        )
        final = isinstance(part, ast.Return | ast.Break | ast.Continue | ast.Raise)
        if self._routine and isinstance(part, ast.stmt) and not alone and not final:
            yield ast.copy_location(ast.parse(f"{self._routine}.forget()").body[0], part)


def forgetful(text: bytes) -> ast.Module:
    """The generated program with everything taken away after each statement of a routine."""
    tree: ast.Module = _Forgetful().visit(ast.parse(text))
    return ast.fix_missing_locations(tree)


def run(path: str, arguments: list[str]) -> None:
    """Run the parallel form of a program; raises what it raises."""
    source, problems = read_source(path)
    result = transform(source)
    assert not problems
    assert result.text is not None, result.diagnostics
    session = AwaySession()
    program = types.ModuleType("__main__")
    program.__file__ = path
    mpi = types.ModuleType("mpi4py")
    mpi.MPI = types.SimpleNamespace(COMM_WORLD=None)  # type: ignore[attr-defined]
    sys.path.insert(0, os.path.dirname(path))
    sys.argv = [path, *arguments]
    sys.modules |= {"__main__": program, "mpi4py": mpi}
    dlbrt.start = lambda module_names: session  # type: ignore[assignment,return-value]
    exec(compile(forgetful(result.text), path, "exec"), vars(program))


if __name__ == "__main__":
    run(os.path.abspath(sys.argv[1]), sys.argv[2:])
