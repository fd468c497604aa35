"""What cloudpickle would not send as it is: functions that remember, views of memory."""

from __future__ import annotations

import array
import enum
import functools
import pickle
import weakref
from typing import Any

import cloudpickle
import numpy as np
import pytest
from dlbrt.mpi.values.pickles import Numbering, Reader, Writer
from dlbrt.mpi.values.taken_apart import common_reduction


def sent(value: Any) -> Any:
    return Reader(()).load(Writer(Numbering()).dump(value))


def test_a_remembering_function_of_the_program_travels_by_value() -> None:
    def plain(x: int) -> int:
        return x + 1

    there = sent(functools.lru_cache(7)(plain))
    assert there(4) == 5
    assert there.cache_parameters() == {"maxsize": 7, "typed": False}
    assert common_reduction(functools.lru_cache(len)) is None


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
