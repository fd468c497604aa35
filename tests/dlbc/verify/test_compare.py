"""What `dlbc verify` sees of two runs: descriptions of values, and the first difference of each kind."""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dlbc.commands.verify.compare import Outcome, Unsteady, UnsteadyError, differences, unsteady
from dlbc.commands.verify.open_elements import OpenElements
from dlbc.commands.verify.snapshot import describe

NOTHING = Unsteady()


class Box:
    """An object of a program."""

    __slots__ = ("__dict__", "held")

    def __init__(self, held: object, other: object) -> None:
        self.held, self.other = held, other


Box.__module__ = "__main__"


def outcome(directory: Path, stdout: bytes = b"", **names: Any) -> Outcome:
    """A run that ended well, and left these names."""
    directory.mkdir(parents=True)
    end = {"exception": None, "names": describe(names, directory)}
    return Outcome(directory, stdout, "", 0, 1.0, "", end, {})


def found(tmp_path: Path, one: object, other: object) -> list[str]:
    """The differences of two runs whose name x holds these values."""
    runs = [outcome(tmp_path / name, x=value) for name, value in (("one", one), ("other", other))]
    return [str(each) for each in differences(runs[0], runs[1], NOTHING, frozenset()) if each.what[:1] != "r"]


VALUES: list[tuple[Any, Any, str]] = [
    (1, 2, "x: 1 (int) sequentially, 2 (int) in parallel"),
    (1, 1.0, "x: 1 (int) sequentially, 1.0 (float) in parallel"),
    (0.0, -0.0, "x: 0.0 (float) sequentially, -0.0 (float) in parallel"),
    ([1, [2, 3]], [1, [2, 4]], "x[1][1]: 3 (int) sequentially, 4 (int) in parallel"),
    ([1], [1, 2], "length of x: 1 sequentially, 2 in parallel"),
    ({"a": 1}, {"a": 2}, "x['a']: 1 (int) sequentially, 2 (int) in parallel"),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "key 0 of x: 'a' (str) sequentially, 'b' (str) in parallel"),
    ({1, 2}, {1, 3}, "x: {1 (int), 2 (int)} sequentially, {1 (int), 3 (int)} in parallel"),
    (Box(1, [2]), Box(1, [3]), "x.other[0]: 2 (int) sequentially, 3 (int) in parallel"),
    (Box(1, 2), Box(0, 2), "x.held: 1 (int) sequentially, 0 (int) in parallel"),
    (deque([1]), deque([2]), "x[0]: 1 (int) sequentially, 2 (int) in parallel"),
    (Counter("ab"), Counter("aab"), "x['a']: 1 (int) sequentially, 2 (int) in parallel"),
    (OrderedDict(a=1), {"a": 1}, "x: a value of type collections.OrderedDict sequentially, "),
    (np.arange(6).reshape(2, 3), np.array([[0, 1, 2], [3, 9, 9]]),
     "x[1, 1] (and 1 more elements): 4 sequentially, 9 in parallel"),
    (np.zeros(2), np.array([0.0, -0.0]), "x[1]: 0.0 sequentially, -0.0 in parallel"),
    (np.zeros(2), np.zeros(3), "shape of x: (2,) sequentially, (3,) in parallel"),
    (np.zeros(2), np.zeros(2, "f4"), "dtype of x: float64 sequentially, float32 in parallel"),
    (np.array([1, "a"], object), np.array([1, "b"], object),
     "x[1]: 'a' (str) sequentially, 'b' (str) in parallel"),
    (np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 2], mask=[1, 1]),
     "x[0]: False sequentially, True in parallel"),
    (np.array([(1, 2.0)], "i1,f8"), np.array([(1, 3.0)], "i1,f8"),
     "x[0]: (1, 2.0) sequentially, (1, 3.0) in parallel"),
    (np.longdouble([1, 2]), np.longdouble([1, 3]), "x[1]: 2.0 sequentially, 3.0 in parallel"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "text"), VALUES, ids=[text[:40] for _, _, text in VALUES])
def test_the_first_difference_of_two_values(one: object, other: object, text: str, tmp_path: Path) -> None:
    differing = found(tmp_path, one, other)
    assert len(differing) == 1
    assert differing[0].startswith(text)


@pytest.mark.parametrize("value", [one for one, _, _ in VALUES], ids=[text[:40] for _, _, text in VALUES])
def test_a_value_does_not_differ_from_itself(value: object, tmp_path: Path) -> None:
    assert found(tmp_path, value, value) == []


def test_padding_does_not_count(tmp_path: Path) -> None:
    kind = np.dtype({"names": ["a", "b"], "formats": ["i1", "i8"]}, align=True)
    one, other = np.zeros(3, kind), np.frombuffer(bytearray(b"\xff" * 3 * kind.itemsize), kind)
    other["a"], other["b"] = 0, 0
    assert one.tobytes() != other.tobytes()
    assert found(tmp_path, one, other) == []


def test_whether_two_places_hold_one_object_counts(tmp_path: Path) -> None:
    shared = [0]
    assert found(tmp_path, [shared, shared], [[0], [0]]) == [
        "x[1]: the object x[0] sequentially, a value of type list in parallel"
    ]


def test_a_structure_that_contains_itself(tmp_path: Path) -> None:
    one: list[Any] = []
    one.append(one)
    assert found(tmp_path, one, one) == []


def test_no_code_of_the_program_runs(tmp_path: Path) -> None:
    class Loud(dict[str, int]):
        def items(self) -> Any:
            raise AssertionError

        __repr__ = __iter__ = __eq__ = __hash__ = items  # type: ignore[assignment]

        def __getattribute__(self, name: str) -> Any:
            raise AssertionError

    Loud.__module__ = "__main__"
    described = describe({"x": Loud(a=1)}, tmp_path)["x"]
    assert described[2] == [("'a'", ["=", "str", "'a'"], ["=", "int", "1"])]


def test_lines_and_names_that_a_sequential_run_does_not_repeat_are_left_out(tmp_path: Path) -> None:
    first = outcome(tmp_path / "1", b"a\ntook 1 s\n", t=1.5, y=2)
    again = outcome(tmp_path / "2", b"a\ntook 2 s\n", t=1.25, y=2)
    ignored = unsteady(first, again)
    assert (ignored.lines, ignored.names - {"numpy.random.get_state()"}) == ({1}, {"t"})
    parallel = outcome(tmp_path / "3", b"a\ntook 3 s\n", t=7.0, y=2)
    assert differences(first, parallel, ignored, frozenset()) == []
    wrong = outcome(tmp_path / "4", b"b\ntook 3 s\n", t=7.0, y=3)
    assert [str(each) for each in differences(first, wrong, ignored, frozenset())] == [
        "line 1 of standard output: 'a' sequentially, 'b' in parallel",
        "y: 2 (int) sequentially, 3 (int) in parallel",
    ]
    assert differences(first, wrong, ignored, frozenset({"y"}))[1:] == []


def test_a_line_too_few_or_too_many(tmp_path: Path) -> None:
    one, other = outcome(tmp_path / "1", b"a\nb\n"), outcome(tmp_path / "2", b"a\n")
    assert [str(each) for each in differences(one, other, NOTHING, frozenset())] == [
        "line 2 of standard output: 'b' sequentially, '' in parallel"
    ]
    assert len(differences(other, one, NOTHING, frozenset())) == 1


def test_two_sequential_runs_that_end_otherwise_leave_nothing_to_compare(tmp_path: Path) -> None:
    one, other = outcome(tmp_path / "1", b"a\n"), outcome(tmp_path / "2", b"a\n")
    with pytest.raises(UnsteadyError, match="exit status: 0 and 3"):
        unsteady(one, replace(other, status=3))
    with pytest.raises(UnsteadyError, match="exception: none and ValueError: 7"):
        unsteady(one, replace(other, end={"exception": ("ValueError", "7"), "names": {}}))
    with pytest.raises(UnsteadyError, match="number of lines of output: 2 and 3"):
        unsteady(one, replace(other, stdout=b"a\nb\n"))


def test_exceptions_and_files(tmp_path: Path) -> None:
    one = replace(outcome(tmp_path / "1", y=1), files={"out": b"abc", "log": b"x"})
    other = replace(
        outcome(tmp_path / "2", y=2),
        status=1,
        end={"exception": ("ValueError", "7"), "names": {}},
        files={"out": b"abd", "log": None},
    )
    assert [str(each) for each in differences(one, other, NOTHING, frozenset())] == [
        "exception: none sequentially, ValueError: 7 in parallel",
        "exit status: 0 sequentially, 1 in parallel",
        "byte 2 of file out: b'abc' sequentially, b'abd' in parallel",
    ]
    missing = replace(one, files={"out": b"abc", "log": None})
    assert [str(each) for each in differences(one, missing, NOTHING, frozenset())] == [
        "file log: written sequentially, not written in parallel"
    ]


def test_values_are_not_compared_after_an_exception(tmp_path: Path) -> None:
    runs = [outcome(tmp_path / name, A=np.full(2, value)) for name, value in (("1", 0.0), ("2", 1.0))]
    for exception, count in (("ValueError", 0), ("SystemExit", 1)):
        ended = [
            replace(each, status=1, end=(each.end or {}) | {"exception": (exception, "3")}) for each in runs
        ]
        assert len(differences(ended[0], ended[1], NOTHING, frozenset())) == count


@dataclass
class Noted:
    """Rows as the runtime notes them."""

    data: Any
    axis: int = 0
    rows: list[int] | None = None


def differing(tmp_path: Path, noted: list[Noted], one: object, other: object) -> list[str]:
    """The differences of two runs whose name x holds these values; the parallel one leaves rows open."""
    ours, theirs = outcome(tmp_path / "one", x=one), outcome(tmp_path / "other", x=other)
    names = describe({"x": other}, theirs.directory, OpenElements(noted))
    theirs = replace(theirs, end={"exception": None, "names": names})
    return [str(each) for each in differences(ours, theirs, NOTHING, frozenset({"numpy.random.get_state()"}))]


@pytest.mark.parametrize(
    "view",
    [lambda a: a, lambda a: a[1:, ::-1], lambda a: a.T, lambda a: a.reshape(-1), lambda a: a.view("i8")],
    ids=["itself", "a part", "transposed", "flat", "another type"],
)
@pytest.mark.parametrize("axis", [0, 1])
def test_elements_that_are_open_are_not_compared_by_any_view(tmp_path: Path, view: Any, axis: int) -> None:
    one = np.arange(20.0).reshape(4, 5)
    other = one.copy()
    np.moveaxis(other, axis, 0)[2:] = -1
    noted = [Noted(other, axis, list(range(2, other.shape[axis])))]
    assert differing(tmp_path, noted, view(one), view(other)) == []
    np.moveaxis(other, axis, 0)[1] = -1
    found = differing(tmp_path / "again", noted, view(one), view(other))
    assert len(found) == 1
    assert found[0].startswith("x[")


def test_open_elements_of_lists_and_of_arrays_of_objects(tmp_path: Path) -> None:
    for k, make in enumerate((list, lambda some: np.array(some, object))):
        one, other = make([1, 2, 3]), make([1, 2, "open"])
        place = tmp_path / str(k)
        assert differing(place, [Noted(other, 0, [2])], one, other) == []
        assert len(differing(place / "closed", [Noted(other, 0, [1])], one, other)) == 1
        assert differing(place / "all", [Noted(other)], one, other) == []
