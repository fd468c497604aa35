"""The values that a loop contributes to on one rank, from the kernel's declarations to the results.

While rank 0 is alone, it works on the real values (`_Native`): nothing is logged. Only values that an
iteration updates several times are combined iteration by iteration, as they are on many ranks, so that the
result does not depend on the number of ranks. Once ranks share the loop, each works on stand-ins (`_Shared`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Protocol

from dlbrt.records import dataclass
from dlbrt.reductions import operations
from dlbrt.reductions.grouping import GroupingAdder
from dlbrt.reductions.identities import (
    BooleanIdentity,
    ExtremumIdentity,
    FirstValue,
    Identity,
    has_order,
)
from dlbrt.reductions.journal import Journal, NumericEntries
from dlbrt.reductions.kinds import (
    ORDERED,
    ContributionForm,
    ContributionKind,
    grouping,
    is_decided,
    part_of,
)
from dlbrt.reductions.numbers import Numbers, Operands, is_combinable
from dlbrt.reductions.places import Place, Places
from dlbrt.reductions.private_copies import (
    ContainerShape,
    PrivateCopySpec,
    container_shape,
    private_copy_spec,
    share_of,
)
from dlbrt.reductions.proxies import (
    CountingAdder,
    HashingAdder,
    LoggingAccumulator,
    LoggingAdder,
    LoggingContainer,
    LoggingExtremum,
    adder,
)
from dlbrt.reductions.unbound import Unbound

#: Beyond it a sum of whole numbers might in time exceed every float.
_MODERATE = 1 << 500


class _Contributions(Protocol):
    """How contributions are collected."""

    def accumulator(self, name: str, run: range, *, folded: bool) -> Any:
        """The object that the name is bound to for a run; ``folded``: runs of other pairs may follow it."""

    def accumulate(self, name: str, share: Any) -> Any:
        """Collect the last iteration's share; returns what the name is bound to for the next one."""

    def takes(self, name: str, kind: type) -> bool:
        """Whether numbers of a type can be combined with the value at once, and surely."""

    def reduce(self, values: Mapping[str, Any]) -> None:
        """Collect the values that a run, or the failing iteration, has left in the names."""

    def end_run(self) -> None:
        """Collect what a run has put into private copies of containers."""


@dataclass(frozen=True, slots=True)
class ContributionDescription:
    """What ranks above 0 know of a value that they contribute to, in place of the value.

    ``empty``: a selection starts from None. ``sure``: see `combines_surely`.
    """

    private_copy_spec: PrivateCopySpec | None = None
    decided: bool = False
    adder: type[LoggingAdder] = LoggingAdder
    container_shape: ContainerShape | None = None
    operand_types: operations.OperandTypes = operations.ANY_OPERANDS
    empty: bool = False
    sure: bool = False


def describe(kind: ContributionKind, value: Any) -> ContributionDescription:
    """The description of a value."""
    return ContributionDescription(
        private_copy_spec(kind, value),
        is_decided(kind, value),
        adder(value),
        container_shape(kind, value),
        operations.operand_types(kind.operator, value),
        kind.none_first and value is None,
        combines_surely(kind, value),
    )


def selectable(kind: ContributionKind, value: Any) -> bool:
    """Whether the best of the ranks' best values is the best of all, as far as the value to beat shows.

    A maximum is found without looking into values, which methods of the program that compare them may do.
    """
    if kind.form is ContributionForm.EXTREME:
        ordered = getattr(type(value), "__dataclass_params__", None)
        return has_order(value) or bool(ordered and ordered.order)
    if kind.form is not ContributionForm.SELECTION:
        return True
    if kind.none_first and value is None:
        return True
    try:
        return has_order(part_of(kind.by)(value))
    except (AttributeError, IndexError, KeyError, TypeError):
        return False


def is_moderate(value: Any) -> bool:
    """Whether a value is a number that can be added, also very often, to any other such number."""
    return type(value) is float or (type(value) is int and -_MODERATE < value < _MODERATE)


def are_moderate(integers: Sequence[int]) -> bool:
    """Whether integers, of which there is one, are `is_moderate`."""
    return min(integers) > -_MODERATE and max(integers) < _MODERATE


def combines_surely(kind: ContributionKind, value: Any) -> bool:
    """Whether moderate numbers can be combined with a value, or elements appended, without a failure."""
    if kind.form is ContributionForm.ADDED:
        return type(value) is list and not kind.by_item
    logged = kind.form in (ContributionForm.LOGGED, ContributionForm.EXTREME, ContributionForm.PER_ITERATION)
    return logged and kind.operator in ("+", "-", "max", "min") and is_moderate(value)


class LoopContributions:
    """The kinds of values, the values themselves (at rank 0), and how contributions are collected now.

    ``bound`` are the names that the loop binds, each followed by its companions; ``per_iteration`` are the
    names to which each iteration contributes a share.
    """

    def __init__(self) -> None:
        self.kinds: dict[str, ContributionKind] = {}
        self.bound: tuple[str, ...] = ()
        self.per_iteration: tuple[str, ...] = ()
        self.values: dict[str, Any] = {}
        self.places = Places()
        self.journal: Journal | None = None
        self._collector: _Contributions = _Native(self.kinds, self.values)

    def declare(self, kinds: Mapping[str, ContributionKind]) -> None:
        """Declare reductions."""
        self.kinds.update(kinds)
        self.per_iteration = tuple(
            n for n, kind in kinds.items() if kind.form is ContributionForm.PER_ITERATION
        )
        bound = ((name, *kind.companions) for name, kind in kinds.items() if kind.bound)
        self.bound = tuple(chain.from_iterable(bound))

    def declare_ordered(self, names: tuple[str, ...]) -> None:
        """Declare containers that are only added to."""
        self.kinds.update(dict.fromkeys(names, ORDERED))

    def declare_grouped(self, names: tuple[str, ...], *, grows: bool) -> None:
        """Declare containers to whose items iterations only add."""
        self.kinds.update(dict.fromkeys(names, grouping(grows=grows)))

    def begin(self, arguments: Mapping[str, Any]) -> None:
        """Take the initial values from the kernel's arguments; values that earlier runs reached stay."""
        self.find_places(arguments)
        for name in self.kinds:
            if name not in self.values:
                self.values[name] = arguments[name] if name.isidentifier() else self.places.value(name)

    def find_places(self, variables: Mapping[str, Any]) -> None:
        """Find where objects hold what iterations contribute to."""
        self.places.find((*self.kinds, *self.bound), variables)

    def take_over(self, earlier: LoopContributions) -> None:
        """Go on from the values that another part of the loop has reached."""
        self.values.update(earlier.values)
        self.places = earlier.places

    def finish(self) -> None:
        """Put the final values in the objects that hold them."""
        self.places.restore(self.values)

    def share(self, journal: Journal, descriptions: Mapping[str, ContributionDescription]) -> None:
        """From now on other ranks contribute as well, so everything goes to the journal."""
        self.journal = journal
        if self.kinds:
            journal.mark_all()
        self._collector = _Shared(self.kinds, journal, descriptions)

    @property
    def singly(self) -> bool:
        """Whether some log entry belongs to a whole run, which must then be contiguous."""
        return self.journal is not None and any(kind.by_run for kind in self.kinds.values())

    @property
    def in_private_copies(self) -> bool:
        """Whether ranks add to private copies of containers, which pays only in long runs."""
        return any(
            private_copy_spec(kind, self.values.get(name)) is not None for name, kind in self.kinds.items()
        )

    def results(self) -> dict[str, Any]:
        """The values of the names that the loop binds, in order; only those that have one."""
        found = ((n, self.values[n]) for n in self.bound if n in self.values and n.isidentifier())
        return {name: value for name, value in found if not isinstance(value, Unbound)}

    def accumulator(self, name: str, run: range, *, folded: bool = False) -> Any:
        """See `_Contributions`."""
        return self._collector.accumulator(name, run, folded=folded)

    def accumulate(self, name: str, share: Any) -> Any:
        """See `_Contributions`."""
        return self._collector.accumulate(name, share)

    def reduce(self, values: Mapping[str, Any]) -> None:
        """See `_Contributions`."""
        self._collector.reduce(values)

    def operands(
        self, names: Sequence[str], numbers: Sequence[Numbers], run: range, part: range, *, descending: bool
    ) -> tuple[Operands, ...] | None:
        """What iterations at ``part`` of a run contribute to names; None where it has to go one by one."""
        if not all(self._collector.takes(name, n.kind) for name, n in zip(names, numbers, strict=True)):
            return None
        codes: dict[int, int] = {}

        def log(place: int, code: int) -> None:
            assert self.journal is not None
            codes[place] = code
            if len(codes) == len(names):
                ordered = tuple(codes[each] for each in range(len(names)))
                entries = NumericEntries(ordered, tuple(numbers))
                self.journal.add_numbers(run, part, entries, descending=descending)

        return tuple(Operands(each, partial(log, place)) for place, each in enumerate(numbers))

    def refuse(self, error: operations.RefusedOperandError) -> BaseException:
        """Take an operand that was refused as the last of its iteration; the exception of the body."""
        entry, error.entry = error.entry, ()
        if self.journal is not None:
            self.journal.log.append(entry)
            return error
        target, operation = divmod(entry[0], operations.WIDTH)
        try:
            operations.APPLY[operation](self.values[list(self.kinds)[target - 1]], entry[1])
        except Exception as exact:  # whatever the program's own operators raise
            return exact.with_traceback(error.__traceback__)
        return error

    def end_run(self) -> None:
        """See `_Contributions`."""
        self._collector.end_run()

    def left_by(self, variables: Mapping[str, Any]) -> dict[str, Any]:
        """The variables of a kernel that `reduce` collects."""
        names = {name: value for name, value in variables.items() if name in self.bound}
        places = (name for name in self.bound if not name.isidentifier())
        return names | {name: Place(name, variables).original for name in places}


class _Native:
    """Works on the real values."""

    def __init__(self, kinds: Mapping[str, ContributionKind], values: dict[str, Any]) -> None:
        self._kinds = kinds
        self._values = values
        self._identities: dict[str, Identity] = {}

    def accumulator(self, name: str, run: range, *, folded: bool) -> Any:  # noqa: ARG002
        if self._kinds[name].form is ContributionForm.PER_ITERATION:
            return self._identities.setdefault(name, self._identity(name))
        return self._values[name]

    def _identity(self, name: str) -> Identity:
        kind, number = self._kinds[name], 1 + list(self._kinds).index(name)
        code = operations.WIDTH * number + operations.combining(kind.operator)
        return Identity(code, operations.operand_types(kind.operator, self._values[name]))

    def accumulate(self, name: str, share: Any) -> Any:
        identity = self._identities.get(name)
        if identity is None:
            return share
        if share is not identity:
            apply = operations.APPLY[operations.combining(self._kinds[name].operator) + identity.mode]
            self._values[name] = apply(self._values[name], share)
        return identity

    def takes(self, name: str, kind: type) -> bool:  # noqa: ARG002
        return self._kinds[name].form is ContributionForm.LOGGED and is_combinable(self._values[name])

    def reduce(self, values: Mapping[str, Any]) -> None:
        companions = {name for kind in self._kinds.values() for name in kind.companions}
        for name, value in values.items():
            if name in self._identities:
                self.accumulate(name, value)
            elif name in self._kinds or (name in companions and value is not UNSET):
                self._values[name] = value

    def end_run(self) -> None:
        """There are no private copies."""


class _Shared:
    """Works on stand-ins that write to a journal."""

    def __init__(
        self,
        kinds: Mapping[str, ContributionKind],
        journal: Journal,
        descriptions: Mapping[str, ContributionDescription],
    ) -> None:
        self._kinds = kinds
        self._journal = journal
        self._append = journal.log.append
        self._descriptions = descriptions
        if self._may_count():
            self._append = self._append_after_counts
        self._names = ["", *kinds]
        self._codes = {name: operations.WIDTH * number for number, name in enumerate(kinds, 1)}
        self._identities: dict[str, operations.StandIn] = {}
        self._private: dict[str, Any] = {}
        self._counting: dict[str, CountingAdder] = {}
        self._readers: dict[str, Callable[[Any], Any] | None] = {}

    def accumulator(self, name: str, run: range, *, folded: bool) -> Any:
        kind, append, code = self._kinds[name], self._append, self._codes[name]
        match kind.form:
            case ContributionForm.LOGGED:
                return LoggingAccumulator(append, code, self._descriptions[name].operand_types)
            case ContributionForm.EXTREME:
                return LoggingExtremum(
                    append, code, kind.operator, run.step == 1, self._descriptions[name].operand_types
                )
            case ContributionForm.ELEMENTS:
                return self._elements(name, run)
            case ContributionForm.ADDED:
                if kind.by_item:
                    return GroupingAdder(append, code, self._reader(name))
                return self._adder(name, contiguous=run.step == 1 and not folded)
            case ContributionForm.LAST:
                return UNSET
            case ContributionForm.SELECTION if self._descriptions[name].empty:
                return FirstValue(append, code, kind.by, at_start=run[0] == 0)
        return self._identities.setdefault(name, self._identity(name))

    def _identity(self, name: str) -> operations.StandIn:
        kind = self._kinds[name]
        if kind.form is ContributionForm.SELECTION:
            return ExtremumIdentity(self._codes[name], kind.by)
        if kind.operator in ("and", "or"):
            return BooleanIdentity((kind.operator == "and") != self._descriptions[name].decided)
        code = self._codes[name] + operations.combining(kind.operator)
        return Identity(code, self._descriptions[name].operand_types)

    def _adder(self, name: str, *, contiguous: bool) -> LoggingAdder:
        kind, code = self._descriptions[name].adder, self._codes[name]
        if kind is not CountingAdder:
            return kind(self._append, code)
        if not (contiguous and self._may_count()):
            return HashingAdder(self._append, code)
        self._counting[name] = CountingAdder(self._append, code, self._journal.log.append)
        return self._counting[name]

    def _may_count(self) -> bool:
        """Whether counts may be logged by runs: it is known, as all else is logged, what may fail later."""
        others = [name for name in self._kinds if self._descriptions[name].adder is not CountingAdder]
        logged = {ContributionForm.ADDED, ContributionForm.LOGGED, ContributionForm.EXTREME}
        sure = all(self._descriptions[name].sure and self._kinds[name].form in logged for name in others)
        return sure and len(others) < len(self._kinds)

    def _append_after_counts(self, entry: tuple[Any, ...]) -> None:
        """Log an entry; what was counted before it comes first if applying the entry may fail."""
        if not self._applies_surely(entry):
            self._log_counts()
        self._journal.log.append(entry)

    def _applies_surely(self, entry: tuple[Any, ...]) -> bool:
        """Whether it appends to a list, or combines two moderate numbers."""
        target, operation = divmod(entry[0], operations.WIDTH)
        name = self._names[target]
        if not self._descriptions[name].sure:
            return False
        if self._kinds[name].form is ContributionForm.ADDED:
            return (
                operation == operations.CALL and entry[1] == "append" and len(entry[2]) == 1 and not entry[3]
            )
        return len(entry) == 2 and is_moderate(entry[1])

    def _log_counts(self) -> None:
        for counting in self._counting.values():
            counting.end_run()

    def _elements(self, name: str, run: range) -> Any:
        spec, sign = self._descriptions[name].private_copy_spec, self._kinds[name].operator
        private = spec.private(sign, len(run)) if spec is not None and run.step == 1 else None
        if private is None:
            return LoggingContainer(self._append, self._codes[name], sign, self._reader(name))
        self._private[name] = private
        return private

    def _reader(self, name: str) -> Callable[[Any], Any] | None:
        if name not in self._readers:
            shape = self._descriptions[name].container_shape
            self._readers[name] = None if shape is None else shape.reader()
        return self._readers[name]

    def accumulate(self, name: str, share: Any) -> Any:
        identity = self._identities.get(name)
        if self._kinds[name].form is not ContributionForm.PER_ITERATION or identity is None:
            return share
        if share is not identity:
            self._journal.before((self._code(name), share))
        return identity

    def takes(self, name: str, kind: type) -> bool:
        logged = self._kinds[name].form is ContributionForm.LOGGED
        return logged and not self._may_count() and kind in self._descriptions[name].operand_types.plain

    def reduce(self, values: Mapping[str, Any]) -> None:
        for name, share in values.items():
            kind = self._kinds.get(name)
            if kind is None or isinstance(share, operations.StandIn) or share is UNSET:
                continue
            if kind.form is ContributionForm.LAST:
                self._append((self._codes[name] + operations.STORE, share))
                continue
            if kind.form is ContributionForm.SELECTION:
                others = {key: values[key] for key in kind.companions if values.get(key, UNSET) is not UNSET}
                self._append((self._codes[name] + operations.SELECT, share, others))
            elif name in self._identities:
                self._append((self._code(name), share))

    def end_run(self) -> None:
        for name, private in self._private.items():
            share = share_of(private, self._kinds[name].operator)
            if share is not None:
                self._append((self._codes[name] + operations.SHARE, share))
        self._private.clear()
        self._log_counts()
        self._counting.clear()

    def _code(self, name: str) -> int:
        """The code of the operation that combines a share with the value."""
        kind, identity = self._kinds[name], self._identities[name]
        if isinstance(identity, Identity):
            return self._codes[name] + operations.combining(kind.operator) + identity.mode
        return self._codes[name] + operations.boolean(kind.operator)


class _Unset:
    def __repr__(self) -> str:
        return "<not set by any iteration>"


#: The value of a temporary that no iteration has set.
UNSET: Any = _Unset()
