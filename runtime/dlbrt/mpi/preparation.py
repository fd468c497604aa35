"""What a loop uses, made ready at rank 0 to go to the other ranks; or why it cannot be shared.

It cannot where the proof's assumptions do not hold of the data (`dlbrt.dist.hazard`), or where something that
iterations use cannot leave this process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any

from dlbrt.dist.evaluate import FootprintError
from dlbrt.dist.field import Field, reached_whole
from dlbrt.dist.hazard import hazard, reached_otherwise
from dlbrt.effects.contributions import ContributionDescription, LoopContributions, describe, selectable
from dlbrt.mpi import modules, packing
from dlbrt.mpi.call import TableSlots
from dlbrt.mpi.footprints import inspect_rows, pack_tables
from dlbrt.mpi.kernels import signature
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.objects import SharedObjects, met_by_pickler
from dlbrt.mpi.packing import Packed, SentKernel
from dlbrt.mpi.residents import LoopResidents
from dlbrt.mpi.state import InterpreterState
from dlbrt.mpi.task import Task

__all__ = ["Preparation"]

#: Values that no operation changes: whoever else has them goes on having them.
_UNCHANGING = (Number, str, bytes, tuple, frozenset, type(None))


class Preparation:
    """What the loop of a task uses, as `obstacle` finds and packs it.

    ``fields`` are those of its array table, ``loop_residents`` the ones that stay on the ranks. ``packed`` holds
    kernel, arguments and space; ``sent`` is the kernel where it goes apart, ``kernel`` its pickle where the
    others do not have it. ``tables`` say which slots hold what iterations touch. ``state`` is the
    interpreter's where it has changed, ``settings`` the pickle of what of it goes by value. ``objects`` are
    those that all ranks will know by number. ``descriptions`` stand for values that are contributed to.
    """

    def __init__(self, task: Task) -> None:
        self.fields: list[Field] = []
        self.loop_residents = LoopResidents()
        self.packed = Packed()
        self.sent: SentKernel | None = None
        self.kernel: bytes | None = None
        self.tables: tuple[TableSlots, ...] = ()
        self.state: InterpreterState | None = None
        self.settings: bytes | None = None
        self.objects = SharedObjects()
        self.descriptions: dict[str, ContributionDescription] = {}
        self._task = task

    def obstacle(self, loop: LoopContext, *, pooled: bool) -> str | None:
        """Why the loop cannot be shared, in words; None where it can, and everything is ready.

        ``pooled``: work is dealt from a pool at rank 0, where the arrays are then, too.
        """
        if loop.unmet is not None:
            return f"{loop.unmet} does not hold"
        arguments = self._task.named
        try:
            self._find(loop, arguments, pooled=pooled)
            self._pack_all(loop.contributions, arguments)
            return self._hazard(arguments) or self._contribution_obstacle(loop.contributions)
        except FootprintError as error:
            return str(error)
        except Exception as error:  # objects' own pickling hooks and attributes may raise anything
            return f"what it uses cannot be sent to other ranks ({type(error).__name__}: {error})"

    def _find(self, loop: LoopContext, arguments: Mapping[str, Any], *, pooled: bool) -> None:
        """The fields, and which of them stay; all that is to be read at rank 0 comes home."""
        task, routine_state = self._task, self._task.routine_state
        fields = loop.table.fields(arguments, task.space)
        if pooled:
            task.fetch_to_root(loop)
        elif routine_state is not None:
            routine_state.inspect_rows(fields)
        self.fields = inspect_rows(fields, len(task.space), task.loop_history.tables)
        if routine_state is not None and not pooled:
            self.loop_residents = routine_state.admit(self.fields)

    def _pack_all(self, known: LoopContributions, arguments: dict[str, Any]) -> None:
        root_runtime, routine_state = self._task.root_runtime, self._task.routine_state
        self.descriptions = {name: describe(kind, known.values[name]) for name, kind in known.kinds.items()}
        values = list((arguments | self.descriptions).values())
        self._pack(values)
        if routine_state is not None and not routine_state.complete(self.packed, self.loop_residents):
            self._pack(values)
        self.tables = pack_tables(self.fields, self.packed)
        self.state = root_runtime.changed_state()
        self.settings = self.objects.dumps(self.state.settings) if self.state else None

    def _pack(self, values: Sequence[Any]) -> None:
        task = self._task
        distributed = {
            id(f.data): f for f in self.fields if f.by_rows or f.spec.stores or f.data in self.loop_residents
        }
        lists = {key: field.data for key, field in distributed.items() if isinstance(field.data, list)}
        packed = self.packed = Packed()

        def carried(value: Any) -> Any:
            return packed.slot(value) if id(value) in distributed else value

        arguments = [carried(value) for value in values]
        space = task.space.with_values(carried(part.values) for part in task.space.parts)
        common = self._pack_kernel()
        kernel = task.kernel if self.sent is None else None
        self.objects = SharedObjects(
            lambda: common.known, lambda: packed.slots, lambda: met_by_pickler(packed.pickler)
        )
        packing.pack((kernel, arguments, space, modules.collect()), packed, lists, common)

    def _pack_kernel(self) -> SharedObjects:
        """Let the kernel go apart, if it may; the objects that the others have from it."""
        task, found = self._task, signature(self._task.kernel)
        self.sent = self.kernel = None
        if found is None:
            return SharedObjects()
        known = task.root_runtime.sent_kernel(task.loop_history.key, found)
        self.sent = known or packing.pack_kernel(task.kernel, found)
        self.kernel = None if known else self.sent.data
        return self.sent.common

    def _hazard(self, arguments: Mapping[str, Any]) -> str | None:
        """What of the data speaks against sharing the loop."""
        hidden = self.packed.inside - {id(f.data) for f in self.fields if "." in f.name}
        hidden |= reached_whole(self.fields, arguments)
        met = self.objects.known if any(field.spec.in_place for field in self.fields) else ()
        return hazard(self.fields, self._arrays(), hidden, len(self._task.space), met)

    def _contribution_obstacle(self, known: LoopContributions) -> str | None:
        for name, kind in known.kinds.items():
            if not selectable(kind, known.values[name]):
                return f"what {name} starts from has no order that ranks could choose by"
        changing = {name: known.values[name] for name in known.kinds}
        changing = {name: value for name, value in changing.items() if not isinstance(value, _UNCHANGING)}
        met = self.objects.known if changing else ()
        return reached_otherwise(changing, self.fields, self._arrays(), met, self._task.named)

    def _arrays(self) -> list[Any]:
        """Every array that goes to the other ranks."""
        return [*(value for value in self.packed.slots if not isinstance(value, list)), *self.packed.arrays]
