"""``dlb`` inside a kernel: one run of one loop on one rank.

A kernel reads in the order of Zaki et al., figure 1.4: arrays, scatter, then while there is work: iterate
and synchronize; gather. The same object serves rank 0 and the others, alone and in a team.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from types import FunctionType, MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn

from dlbrt.contract import Distribution
from dlbrt.data.array_table import ArraySpec, DistributionSpec
from dlbrt.data.footprint import IndexMap
from dlbrt.data.loop_fields import ArrayTable
from dlbrt.data.shown_warnings import collects_warnings
from dlbrt.data.space import Space
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import FoldingPolicy
from dlbrt.emulation import Load
from dlbrt.mpi.interrupts import interrupts
from dlbrt.mpi.team import Team
from dlbrt.mpi.temporaries import Temporaries
from dlbrt.mpi.values.generators import holds_seeds, states
from dlbrt.mpi.walk import Walk
from dlbrt.partition.cost_spec import CostSpec
from dlbrt.records import dataclass
from dlbrt.reductions.contributions import UNSET, LoopContributions
from dlbrt.reductions.kinds import ContributionKind
from dlbrt.reductions.operations import RefusedOperandError
from dlbrt.reductions.unbound import is_unbound

STALE = "another version of dlbc has generated this program; run `dlbc transform` on its source again"


@dataclass(frozen=True, slots=True)
class ProfilingOptions:
    """The clause ``profile``: groups of iterations are timed, and shares cut anew where the times drift."""

    group: int
    every: int
    threshold: float


@dataclass(slots=True)
class LoopEnd:
    """How this rank's part ended: what it left in temporaries, and where the body raised.

    ``failed_at`` is the lowest position that raised, ``raised`` are all. ``overwritten`` are the arrays of
    mode ``w`` to which the iteration that raised has stored.
    """

    temporaries: Temporaries = field(default_factory=Temporaries)
    failed_at: int | None = None
    raised: list[int] = field(default_factory=list)
    error: BaseException | None = None
    overwritten: tuple[str, ...] = ()


def refuse_stale(session: str) -> Callable[[object, str], NoReturn]:
    """``__getattr__`` of what generated programs call ``session``: older programs use names that are gone."""

    def missing(_: object, name: str) -> NoReturn:
        raise AttributeError(f"{session}.{name}: {STALE}")

    return missing


class LoopContext:
    """What a kernel sees.

    ``launch`` is called by `scatter`, and again where rank 0 has begun alone (``walk.trial_until`` set) and
    finds the loop worth sharing: it returns the team that runs the loop. ``finish`` gathers. ``ensure_valid``
    is called with a condition before it is evaluated: it may read arrays that are out of date at rank 0.
    """

    unset = UNSET
    unbound = staticmethod(is_unbound)
    if not TYPE_CHECKING:
        __getattr__ = refuse_stale("dlb")

    def __init__(
        self,
        space: Space,
        launch: Callable[[LoopContext], Team],
        finish: Callable[[LoopContext], None],
        load: Load,
    ) -> None:
        self.space = space
        self.table = ArrayTable(Distribution.BLOCK, {})
        self.strategy: str | None = None
        self.group: int | None = None
        self.costs = CostSpec()
        self.profiled: ProfilingOptions | None = None
        self.folding = FoldingPolicy.NONE
        self.contributions = LoopContributions()
        self.walk = Walk(space, self.contributions, load)
        self.is_conditional = False
        self.unmet: str | None = None
        self.left_to_python: str | None = None
        self.compile_s = 0.0
        self.threads = 1
        self.unseen_calls: Mapping[str, int] = {}
        self.generators: tuple[str, ...] = ()
        self.private: Sequence[str] = ()
        self.ending = LoopEnd()
        self.ensure_valid: Callable[[object], object] = lambda _: None
        self._launch = launch
        self._finish = finish
        self._scattered = False

    @property
    def team(self) -> Team:
        """The team that runs the loop."""
        return self.walk.team

    def begin(self, arguments: Mapping[str, Any]) -> None:
        """Take from the kernel's arguments what iterations contribute to.

        Python changes it after compiled iterations, and lists that are stored to as well: where these read
        what is changed, the loop runs as Python.
        """
        self.contributions.begin(arguments)
        if self.walk.chunks is None:
            return
        found = [
            (_found(arguments, name, each), each) for name, each in self.table.specs.items() if each.stores
        ]
        lists = [value for value, _ in found if isinstance(value, list)]
        inside = [value for value, spec in found if isinstance(value, list) and spec.in_place]
        if name := self.walk.chunks.reads(lists, [*self.contributions.values.values(), *inside]):
            self.walk.chunks = None
            self.left_to_python = f"`{name}` is also what Python changes after compiled iterations"

    def schedule(self, strategy: str, group: int | None = None) -> None:
        """Force a strategy for this loop."""
        self.strategy, self.group = strategy, group

    def require(self, holds: Callable[[], Any], text: str) -> None:
        """A condition that the proof rests on; where it is false or raises, rank 0 runs the loop alone."""
        self.is_conditional = True
        self.ensure_valid(holds)
        try:
            met = bool(holds())
        except Exception:  # names that are no numbers: the condition is not known to hold
            met = False
        if not met:
            self.unmet = self.unmet or text

    def watch(
        self,
        calls: Mapping[str, int],
        private: Sequence[str] = (),
        seeds: Sequence[Any] = (),
        seed_items: Sequence[int] = (),
    ) -> None:
        """The calls that the compiler has not seen, each with its line: what they change is looked at.

        Objects of ``private`` names may change: each iteration finds them worthless. Where ``seeds`` or
        ``seed_items`` are given, the calls make random generators of these, or of items of the sequences of
        these numbers: if all of them are seeds, nothing needs to be looked at.
        """
        self.private = private
        parts = self.space.parts  # there are none, or one of all items, where an iterable was read out
        held = [*seeds, *(part.values for number, part in enumerate(parts) if number in seed_items)]
        known = len(held) == len(seeds) + len(seed_items) and bool(held)
        self.unseen_calls = {} if known and all(map(holds_seeds, held)) else calls

    def seeded(self, *generators: str) -> None:
        """The global random generators that each iteration seeds before it draws, by their modules."""
        self.generators = generators

    def cost(
        self,
        density: Callable[[Any], Any] | None = None,
        *,
        each: Callable[[Iterable[Any]], list[Any]] | None = None,
        cumulative: Callable[[Any], Any] | None = None,
        fit: Callable[[], Any] | None = None,
    ) -> None:
        """What iterations cost, in any unit: by a vector of index values, by items, or of all below x."""
        self.costs = CostSpec(density, each, cumulative, fit)

    def profile(self, group: int, every: int, threshold: float) -> None:
        """Measure what iterations cost on the first pass; look for drift every ``every`` passes."""
        self.profiled = ProfilingOptions(group, every, threshold)

    def folded(self, always: bool = False) -> None:
        """Deal the iterations t and n-1-t as a pair: all pairs cost the same."""
        self.folding = FoldingPolicy.ALWAYS if always else FoldingPolicy.WHERE_IT_PAYS

    def arrays(self, iterations: DistributionSpec | None = None, /, **specs: ArraySpec) -> None:
        """The array table: how iterations are dealt (in blocks by default) and each array is distributed."""
        if not self._scattered:
            dealt = iterations.distribution if iterations else Distribution.BLOCK
            self.table = ArrayTable(dealt, specs)

    def sequence(self, number: int | None = None) -> Any:
        """What the loop runs over, or of several in `zip` that of a number, for `compile`."""
        return self.space.sequence(number)

    def items(self, /, **sequences: int) -> None:
        """The sequences that the loop runs over, by number, whose elements iterations change in place."""
        if not self._scattered:
            self.table = replace(self.table, items=sequences)

    def reductions(self, /, **kinds: ContributionKind) -> None:
        """The values that iterations contribute to, and how (see `dlbrt.reductions.kinds`)."""
        if any(type(kind) is not ContributionKind for kind in kinds.values()):
            raise TypeError(f"dlb.reductions: {STALE}")
        if not self._scattered:
            self.contributions.declare(kinds)

    def ordered(self, *names: str) -> None:
        """The containers that iterations only add to."""
        if not self._scattered:
            self.contributions.declare_ordered(names)

    def grouped(self, *names: str, grows: bool = False) -> None:
        """The containers to whose items iterations only add; ``grows``: they may add items too."""
        if not self._scattered:
            self.contributions.declare_grouped(names, grows=grows)

    def compile(
        self,
        forms: Sequence[FunctionType],
        arguments: Sequence[Any],
        *,
        fits: FunctionType | None = None,
        axes: str = "",
        stored: str = "",
        index_only: str = "",
        arrays: str = "",
        integers: str = "",
        floats: str = "",
        python: str = "",
        real: str = "",
        restructured_floats: str = "",
        strip: int = 1,
        columns: Sequence[str] = (),
        in_place: bool = False,
        bits: int = 62,
        rows: Mapping[str, int] = MappingProxyType({}),
        origins: str = "",
        origin_columns: Mapping[int, int] = MappingProxyType({}),
        notes: Sequence[str] = (),
        noted: Mapping[int, Sequence[int]] = MappingProxyType({}),
        note_origins: Mapping[int, int] = MappingProxyType({}),
    ) -> None:
        """Compile the chunk functions for these arguments; see `dlbrt.native.chunk_spec.ChunkSpec`.

        Where that cannot be done, the loop runs as Python, and rank 0 says why.
        """
        if self._scattered:
            return
        if collects_warnings():
            self.left_to_python = "the program collects warnings, which compiled code does not give"
            return
        from dlbrt.native.arguments import NotCompiled
        from dlbrt.native.chunk_spec import ChunkSpec, check_index
        from dlbrt.native.chunks import CompiledChunks
        from dlbrt.native.compiler import CompileTime

        spec = ChunkSpec(
            forms,
            fits,
            {name: int(count) for name, _, count in (each.partition(":") for each in axes.split())},
            frozenset(stored.split()),
            frozenset(index_only.split()),
            frozenset(arrays.split()),
            frozenset(integers.split()),
            frozenset(floats.split()),
            frozenset(python.split()),
            frozenset(real.split()),
            frozenset(restructured_floats.split()),
            strip,
            [frozenset(names.split()) for names in columns],
            in_place,
            bits,
            rows,
            origins.split(),
            origin_columns,
            [frozenset(names.split()) for names in notes],
            noted,
            note_origins,
        )
        items = (part.values for part in self.space.parts if self.space.is_asked)
        taken = {id(values) for values in items if getattr(values, "ndim", 0) == 1}
        named = zip(spec.names, arguments, strict=True)
        if any(name in spec.stored and id(value) in taken for name, value in named):
            # A chunk does not show which items it has found.
            self.left_to_python = "items are read after the loop, and iterations store to their places"
            return
        before_s = CompileTime.seconds
        try:
            index = self.space.index or IndexMap(0, 1)
            if len(self.space):
                ends = index.values(range(len(self.space)))
                check_index(max(abs(ends[0]), abs(ends[-1])), bits)
            self.walk.chunks = CompiledChunks(spec, arguments, self.threads)
        except NotCompiled as error:
            self.left_to_python = str(error)
        self.compile_s = CompileTime.seconds - before_s

    def compute(self, each: bool = False, pairs: bool = False, apart: bool = False) -> None:
        """Run compiled chunks of the next run of this rank's iterations, with a poll after each."""
        deque(self.walk.computed(each=each, pairs=pairs, apart=apart, rows=False), maxlen=0)

    def computed(
        self, each: bool = False, pairs: bool = False, apart: bool = False, items: bool = False
    ) -> Iterator[Any]:
        """The same; for each iteration its index, or item if ``items``, and what it leaves to Python."""
        return self.walk.computed(each=each, pairs=pairs, apart=apart, rows=True, items=items)

    def operands(self, *names: str, pairs: bool = False) -> Iterator[Any]:
        """The same, where iterations leave to Python nothing but one operand for each of the names.

        The operands of a chunk come at once where that gives the same bits, or else one by one.
        """
        return self.walk.computed(each=False, pairs=pairs, apart=False, rows=True, names=names)

    def scatter(self) -> None:
        """Deal the iterations, and send each rank what its iterations read."""
        if not self._scattered:
            self._scattered = True
            stores = any(spec.stores for spec in self.table.specs.values())
            if self.space.is_asked and (stores or self.unseen_calls):
                for part in self.space.parts:
                    self.ensure_valid(part.values)
                self.space.hold_items()
            self.walk.join(self._launch(self))
            if not self.team.work:
                self.synchronize()  # more ranks than iterations: work may still come

    @property
    def tried(self) -> Spans:
        """The positions of all iterations that this rank has done, or that have raised here."""
        raised = Spans.of(*(range(at, at + 1) for at in set(self.ending.raised)))
        return self.team.figures.done.union(raised)

    @property
    def more_work(self) -> bool:
        """Whether this rank has iterations to do."""
        return bool(self.team.work)

    def iterations(self, each: bool = False) -> Iterator[Any]:
        """The next run of this rank's iterations, in chunks with a poll for interrupts after each.

        A run is a stretch of positions in order, one position if ``each``, so that what is kept
        afterwards is known to come from it.
        """
        return self.walk.iterations(each=each)

    def pairs(self, each: bool = False, apart: bool = False) -> Iterator[Any]:
        """The next of this rank's pairs of iterations, t and n-1-t; as `iterations` where it has none.

        Where what is kept belongs to a stretch of positions in order, pairs come ``apart``: the lower
        positions of some pairs, and with the next call their partners.
        """
        return self.walk.pairs(each=each, apart=apart)

    def accumulators(self, *values: Any) -> Any:
        """The accumulators to which contributed names are bound for the next run: one, or a tuple.

        ``values`` are those of the names, in the order in which `reductions` and `ordered` declare them. On a
        rank that runs the loop alone an accumulator is the value itself, otherwise it stands for the value.
        """
        contributions, run, folded = self.contributions, self.walk.coming(), self.team.units.folded
        pairs = zip(contributions.kinds, values, strict=True)
        found = tuple(contributions.accumulator(name, run, folded=folded) for name, _ in pairs)
        return found if len(found) > 1 else found[0]

    def accumulate(self, share: Any, *others: Any) -> Any:
        """Take what the last iteration has contributed by several updates; a new share begins.

        The shares passed and returned are those of the names declared with ``several``.
        """
        contributions = self.contributions
        if not others:
            return contributions.accumulate(contributions.per_iteration[0], share)
        pairs = zip(contributions.per_iteration, (share, *others), strict=True)
        return tuple(contributions.accumulate(name, each) for name, each in pairs)

    def reduce(self, *values: Any) -> None:
        """Take what the run just done has left in the names that it binds, companions after theirs."""
        self.contributions.reduce(dict(zip(self.contributions.bound, values, strict=True)))

    def keep(self, /, **values: Any) -> None:
        """Remember temporaries that are live after the loop, as the run just done left them."""
        dealt = self.table.iterations is Distribution.CYCLIC
        self.ending.temporaries.keep(self.walk.done, values | states(self.generators), dealt=dealt)

    def keep_each(self, /, **values: Any) -> None:
        """The same for iterations dealt in turn where an exception that ends the loop may be caught.

        Whichever of them comes before the failing one, its values are those that count.
        """
        self.ending.temporaries.keep(self.walk.done, values | states(self.generators))

    def synchronize(self) -> None:
        """Exchange profiles, decide and move work where it is time to; wait where there is no work."""
        walk = self.walk
        walk.end_stretch()
        if walk.mid_pair:
            return
        walk.complete_delivery()
        if walk.on_trial and self.team.work:
            walk.end_trial()
            walk.join(self._launch(self))
        self.team.synchronize()
        walk.emulate_load()

    def gather(self) -> None:
        """Collect at rank 0 what was stored."""
        self._finish(self)

    def fail(
        self, error: BaseException, temporaries: Mapping[str, Any], parameters: Mapping[str, Any]
    ) -> bool:
        """Handle an exception of the body; False if it came from elsewhere.

        Work before the failing iteration goes on. ``temporaries`` are the kernel's local variables at the
        failure, without its ``parameters``.
        """
        position = self.walk.failed()
        if position is None:
            return False
        left = self.contributions.left_by({**parameters, **temporaries})
        own = {name: value for name, value in temporaries.items() if name not in left}
        self.ending.temporaries.keep(self.walk.done, own | states(self.generators), failed=True)
        self.contributions.reduce(left)
        if isinstance(error, RefusedOperandError):
            error = self.contributions.refuse(error)
        self.walk.end_stretch()
        self.ending.failed_at, self.ending.error = position, error
        self.ending.raised.append(position)
        self.team.failed(0 if interrupts.ends(error) else position)
        self.synchronize()
        return True


def _found(arguments: Mapping[str, Any], name: str, spec: ArraySpec) -> Any:
    """What a row of the array table is about, if it is a kernel's argument or found under a key."""
    if spec.of is None:
        return arguments.get(name)
    try:
        return spec.of()
    except Exception:  # the loop may have no iteration
        return None
