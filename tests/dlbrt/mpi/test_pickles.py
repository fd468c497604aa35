"""What cloudpickle would not send as it is: functions that remember, views of memory."""

from __future__ import annotations

import array
import enum
import functools
import io
import pickle
import random
import sys
import weakref
from typing import Any

import cloudpickle
import numpy as np
import pytest
from dlbrt.data import set_tables
from dlbrt.mpi.values.pickles import Numbering, Reader, Writer
from dlbrt.mpi.values.set_pickles import laid_out
from dlbrt.mpi.values.taken_apart import PROTOCOL, common_reduction, of_array

from tests.support.random_sets import history, random_set


def sent(value: Any) -> Any:
    return Reader(()).load(Writer(Numbering()).dump(value))


def test_a_remembering_function_of_the_program_travels_by_value() -> None:
    def plain(x: int) -> int:
        return x + 1

    there = sent(functools.lru_cache(7)(plain))
    assert there(4) == 5
    assert there.cache_parameters() == {"maxsize": 7, "typed": False}
    assert common_reduction(functools.lru_cache(len)) is None


def fresh() -> Any:
    """An array that nothing else refers to."""
    return np.arange(48.0).reshape(4, 12).copy()


ARRAYS = {
    "steps": lambda: fresh()[1][::2],
    "backwards": lambda: fresh()[1][::-1],
    "a column": lambda: fresh()[:, 3],
    "a block": lambda: fresh()[1:3, 2:5],
    "turned": lambda: fresh().reshape(2, 4, 6).transpose(1, 2, 0),
    "turned part": lambda: fresh().reshape(2, 4, 6).transpose(1, 2, 0)[::2],
    "by columns": lambda: np.asfortranarray(fresh()),
    "repeated": lambda: np.broadcast_to(fresh()[0], (3, 12)),
    "no elements": lambda: fresh()[:, :0],
    "one element": lambda: np.array(2.5),
    "no bytes": lambda: np.zeros(3, "U0"),
    "records": lambda: np.array([(1, 2.5), (3, 4.5), (5, 6.5)], "i4,f8")[::2],
    "times": lambda: fresh()[0].astype("M8[s]")[::3],
}


@pytest.mark.parametrize("writeable", [True, False])
@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_its_own_arrives_by_value(name: str, writeable: bool) -> None:
    array = ARRAYS[name]()
    if name != "repeated":
        array.flags.writeable = writeable
    reduced = of_array(array, lambda _: None)
    assert reduced is not None
    there = pickle.loads(pickle.dumps(Reduced(reduced), 5))
    assert (there.tobytes(), there.shape, there.dtype) == (array.tobytes(), array.shape, array.dtype)
    assert there.strides == array.strides or not array.size
    assert there.base is None or not array.flags.forc
    assert there.flags.writeable is array.flags.writeable
    assert there.flags.f_contiguous or not array.flags.f_contiguous


def test_a_part_of_what_is_read_only_where_it_arrives_is_read_only() -> None:
    there, here = fresh(), fresh()  # ranks above 0 have a copy, which can be stored to
    make, (_, *arguments) = of_array(there[1:3, ::2], lambda _: (there, True)) or (None, (None,))
    here.flags.writeable = False
    part = make(here, *arguments)
    assert (part.base is here, part.flags.writeable) == (True, False)
    assert part.tolist() == here[1:3, ::2].tolist()


class Reduced:
    """Is pickled as it is told."""

    def __init__(self, reduced: tuple[Any, ...]) -> None:
        self.reduced = reduced

    def __reduce__(self) -> tuple[Any, ...]:
        return self.reduced


VIEWS = {
    "bytes": lambda: memoryview(b"abcdef"),
    "part": lambda: memoryview(bytearray(b"abcdef"))[2:4],
    "steps": lambda: memoryview(b"abcdef")[1::2],
    "backwards": lambda: memoryview(b"abcdef")[4:1:-1],
    "numbers": lambda: memoryview(array.array("d", [1, 2, 3])),
    "part of numbers": lambda: memoryview(array.array("d", [1, 2, 3]))[1:],
    "numbers backwards": lambda: memoryview(array.array("i", range(9)))[::-3],
    "cast": lambda: memoryview(bytearray(24)).cast("d", (3, 1)),
    "array": lambda: memoryview(np.arange(6).reshape(2, 3)),
    "columns": lambda: memoryview(np.arange(6).reshape(2, 3)[:, ::2]),
    "readonly": lambda: memoryview(bytearray(b"abc")).toreadonly(),
    "empty": lambda: memoryview(bytearray(b"abc"))[1:1],
}


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_of_memory_arrives_as_one(name: str) -> None:
    view = VIEWS[name]()
    there = sent(view)
    assert type(there) is memoryview
    assert there.tolist() == view.tolist()
    assert (there.format, there.shape, there.readonly) == (view.format, view.shape, view.readonly)
    assert type(there.obj) is type(view.obj)


def test_it_is_a_view_of_what_travels_beside_it() -> None:
    data = bytearray(b"abc")
    there, view = sent((data, memoryview(data)[1:]))
    there[1] = ord("x")
    assert bytes(view) == b"xc"


def test_a_view_that_cannot_be_made_again_stays() -> None:
    view = memoryview(b"abc")
    view.release()
    with pytest.raises(ValueError, match="released"):
        sent(view)
    with pytest.raises(TypeError, match="one-dimensional"):
        sent(memoryview(memoryview(np.arange(12).reshape(3, 4))[::2]))


def test_the_memo_begins_with_what_the_reader_has() -> None:
    here, there = [[1], {"k": 1}, [1]], [["a"], {"b": 2}, ["c"]]
    writer, reader = Writer(Numbering([here[0], here[0], here[1]])), Reader([there[0], there[0], there[1]])
    found = reader.load(writer.dump([*here, here]))
    assert found[0] is there[0]
    assert found[1] is there[1]
    assert found[2] == here[2]
    assert reader.load(writer.dump(here[2])) is found[2]


def test_both_sides_can_number_more() -> None:
    writer, reader = Writer(Numbering()), Reader(())
    here, there = [1], ["one"]
    first = reader.load(writer.dump(here))
    writer.extend([new := [2]])
    reader.extend([there])
    again, other = reader.load(writer.dump([here, new]))
    assert again is first
    assert other is there


def test_a_pickle_that_fails_leaves_the_memo_as_it_was() -> None:
    writer, reader = Writer(Numbering()), Reader(())
    kept = [1]
    first = reader.load(writer.dump(kept))
    for _ in range(2):
        with pytest.raises(TypeError):
            writer.dump([[2], "text", (k for k in "")])
    found = reader.load(writer.dump([later := [3], kept]))
    assert found == [[3], [1]]
    assert found[1] is first
    assert reader.load(writer.dump(later)) is found[0]


class _Unreadable:
    def __reduce__(self) -> tuple[Any, ...]:
        return int, ("not a number",)


def test_after_a_pickle_that_cannot_be_read_none_is() -> None:
    writer, reader, value = Writer(Numbering()), Reader(()), [1]
    with pytest.raises(ValueError, match="not a number"):
        reader.load(writer.dump(([2], _Unreadable(), value)))
    with pytest.raises(pickle.UnpicklingError, match="not a number"):
        reader.load(writer.dump(value))


class _Finalized:
    def __del__(self) -> None:
        pass


@pytest.mark.parametrize("value", [_Finalized, _Finalized()])
def test_what_has_a_finalizer_is_not_sent(value: Any) -> None:
    with pytest.raises(TypeError, match="the finalizer of _Finalized"):
        sent([value])


def enumerations() -> tuple[Any, ...]:
    class Planet(enum.Enum):
        EARTH = (6.0, 6.4)
        MARS = (0.6, 3.4)
        RED = (0.6, 3.4)  # noqa: PIE796  # an alias

        def __init__(self, mass: float, radius: float) -> None:
            self.mass, self.radius = mass, radius

    class Level(float, enum.Enum):
        LOW = (0.5, "l")

        def __new__(cls, value: float, label: str) -> Level:
            made = float.__new__(cls, value)
            made._value_ = label
            return made

    class Pair(tuple, enum.Enum):  # type: ignore[type-arg]
        FIRST = (1, 2)

    class Mode(enum.IntFlag):
        READ = 1
        WRITE = 2

    return Planet, Level, Pair, Mode


def test_an_enumeration_arrives_as_the_program_has_made_it(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = enumerations()
    kinds[0].EARTH.visits = 3
    data = Writer(Numbering()).dump([kinds, kinds[0].MARS])
    monkeypatch.setattr(
        cloudpickle.cloudpickle, "_DYNAMIC_CLASS_TRACKER_BY_ID", weakref.WeakValueDictionary()
    )
    (planet, level, pair, mode), mars = Reader(()).load(data)
    assert planet is not kinds[0]
    assert (planet.EARTH.mass, planet.EARTH.visits, mars.radius) == (6.0, 3, 3.4)
    assert planet["RED"] is planet.MARS is mars is planet((0.6, 3.4))
    assert (float(level.LOW), level.LOW.value, level("l")) == (0.5, "l", level.LOW)
    assert (pair.FIRST[1], pair.FIRST.value) == (2, (1, 2))
    assert (mode(3), list(mode)) == (mode.READ | mode.WRITE, [mode.READ, mode.WRITE])


def test_an_array_of_a_subclass_keeps_its_attributes() -> None:
    class Field(np.ndarray):  # type: ignore[type-arg]
        pass

    field = np.arange(3.0).view(Field)
    field.unit = "m"  # type: ignore[attr-defined]
    there = sent(field)
    assert (type(there), there.unit, there.tolist()) == (Field, "m", [0.0, 1.0, 2.0])
    plain, hard = np.ma.array([1.0, 2.0]), np.ma.array([1.0, 2.0], mask=[True, False])
    hard.harden_mask()
    assert (sent(plain).mask is np.ma.nomask, sent(hard).hardmask, repr(sent(hard))) == (
        True,
        True,
        repr(hard),
    )
    assert common_reduction(np.rec.array([(1, 2.0)])) is None


PLUGINS = """
found = []

class Base:
    def __init_subclass__(cls, *, tag="", **options):
        super().__init_subclass__(**options)
        cls.tag = tag
        found.append(cls.__name__)

class Plugin(Base, tag="p"):
    pass

class Meta(type):
    def __new__(cls, name, bases, members):
        found.append(name)
        return super().__new__(cls, name, bases, members)

class Made(metaclass=Meta):
    __slots__ = ("x",)
"""


def test_hooks_of_classes_do_not_run_again_where_classes_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(PLUGINS, names)
    names["Made"].found = names["Base"].found = names["found"]
    data = Writer(Numbering()).dump([names["Base"], names["Plugin"], names["Meta"], names["Made"]])
    monkeypatch.setattr(
        cloudpickle.cloudpickle, "_DYNAMIC_CLASS_TRACKER_BY_ID", weakref.WeakValueDictionary()
    )
    base, plugin, meta, made = Reader(()).load(data)
    assert base is not names["Base"]
    assert base.found == made.found == ["Plugin", "Made"]
    assert (plugin.tag, plugin.__bases__, type(made), made.__slots__) == ("p", (base,), meta, ("x",))

    class Later(plugin):  # type: ignore[misc, valid-type]
        pass

    assert (Later.tag, base.found) == ("", ["Plugin", "Made", "Later"])  # the hooks are there


def test_sets_arrive_with_their_tables_and_stay_the_objects_that_they_are() -> None:
    draw = random.Random(5)
    for _ in range(60):
        writer, reader = Writer(Numbering()), Reader(())
        sets: list[Any] = [random_set(draw.randrange(1000)) for _ in range(4)]
        sets += [*map(frozenset, sets)]
        arrived: dict[int, Any] = {}
        for _ in range(4):
            chosen = [[draw.choice(sets), draw.choice(sets)] for _ in range(5)]
            for pair, other in zip(chosen, reader.load(writer.dump(chosen)), strict=True):
                for one, two in zip(pair, other, strict=True):
                    assert arrived.setdefault(id(one), two) is two
            assert len(writer.numbering.objects) == len(reader.objects)
        for one in sets:
            if id(one) in arrived and type(one) is set:
                assert history(arrived[id(one)]) == history(one)


class Holder:
    """Has the hash of a number and holds what is put there later."""

    held: Any = None

    def __init__(self, number: int) -> None:
        self.number = number

    def __hash__(self) -> int:
        return self.number

    def __eq__(self, other: object) -> bool:
        return other.number == self.number if isinstance(other, Holder) else NotImplemented

    def __reduce__(self) -> Any:
        return Holder, (self.number,), {"held": self.held}


def test_a_set_whose_elements_lead_to_it_arrives_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(set_tables, "_IS_SEEDED", True)
    held = {Holder(32 * number) for number in range(40)}
    for each in [*held][:30]:
        held.discard(each)
    inner = {Holder(number) for number in (40, 8, 16, 24)}
    for each in held:
        each.held = held, inner
    there = sent([held, inner])
    assert [each.number for each in there[0]] == [each.number for each in held]
    assert all(each.held[0] is there[0] and each.held[1] is there[1] for each in there[0])
    assert [each.number for each in there[1]] == [each.number for each in inner]


def test_a_frozen_set_that_elements_lead_to_is_refused_where_its_order_would_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(set_tables, "_IS_SEEDED", True)
    orders = (random.Random(seed).sample(range(0, 3200, 32), 6) for seed in range(100))
    numbers = next(order for order in orders if set_tables.layouts_of([frozenset(order)]) != [None])
    held = frozenset(Holder(number) for number in numbers)
    assert [each.number for each in sent([held])[0]] == [each.number for each in held]
    for each in held:
        each.held = held
    with pytest.raises(TypeError, match="an element of a frozen set leads to the set"):
        sent([held])


def test_frozen_sets_in_frozen_sets_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(set_tables, "_IS_SEEDED", True)
    held: list[Any] = [frozenset(random_set(seed)) for seed in range(40)]
    holder = Holder(7)
    holder.held = held[3]
    held.append(frozenset({(1, held[0]), held[5], *range(0, 3200, 32)}) - {0})
    held.append(frozenset({holder, *range(0, 6400, 64)}) - {0})
    held.append(frozenset({held[-1], held[-2], *range(0, 6400, 64)}) - {0})
    there = sent([held[::-1]])[0][::-1]
    assert all(one | {-5} == other | {-5} for one, other in zip(held, there, strict=True))
    assert [[*each] for each in there[:40]] == [[*each] for each in held[:40]]
    assert [*map(repr, map(list, there[40:41]))] == [*map(repr, map(list, held[40:41]))]
    assert there[41] in there[42]
    assert any(each is there[5] for each in there[40])
    assert next(each for each in there[41] if type(each) is Holder).held is there[3]


class Numbers(set[int]):
    pass


def test_a_set_of_another_class_is_refused_where_its_order_would_change() -> None:
    held = Numbers(range(100))
    assert [*sent(held)] == [*held]
    held.difference_update(range(90))
    with pytest.raises(TypeError, match="run through a Numbers in another order"):
        sent(held)


class Named(set[int]):
    def __init__(self, name: str, numbers: Any) -> None:
        super().__init__(numbers)
        self.name = name

    def __reduce__(self) -> Any:
        return Named, (self.name, [*self])


def test_a_set_that_says_how_it_is_pickled_is_pickled_so() -> None:
    held = Named("a", range(100))
    held.difference_update(range(90))
    there = sent(held)
    assert (there, there.name) == (held, "a")


def test_what_a_set_is_written_with_after_a_failure_is_right() -> None:
    writer, reader = Writer(Numbering()), Reader(())
    held = {number * 1024 for number in range(30)} - {1024}
    with pytest.raises(TypeError, match="cannot pickle"):
        writer.dump([held, sys._getframe()])
    assert [*reader.load(writer.dump([held]))[0]] == [*held]


def test_sets_are_found_by_what_was_met_not_by_bytes_that_look_like_them() -> None:
    by_chance = int.from_bytes(pickle.EMPTY_SET + pickle.MEMOIZE, "little")
    grown = set(range(1000))
    for element in range(990):
        grown.remove(element)
    file = io.BytesIO()
    pickler = pickle.Pickler(file, PROTOCOL)
    earlier, begun = [grown], [by_chance, [grown]]
    pickler.dump(earlier)
    assert [each for each, _ in laid_out(file.getvalue(), pickler, earlier)] == [grown]
    file.seek(0)
    file.truncate()
    pickler.dump(begun)
    assert pickle.EMPTY_SET + pickle.MEMOIZE in file.getvalue()
    assert not laid_out(file.getvalue(), pickler, begun)  # it was met before
