"""What the plan takes as unchanged is looked at, and what rank 0 did out of order is undone."""

from __future__ import annotations

import copyreg
import os
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import numpy as np
import pytest
from dlbrt.data.array_table import BLOCK, WHOLE, ArraySpec
from dlbrt.data.field import Field, array_field
from dlbrt.data.footprint import IndexMap
from dlbrt.data.spans import Spans, first_gap
from dlbrt.mpi.team import SingleRank
from dlbrt.mpi.watch import Probation, Undo, Watch, contradicted, foreign_object
from dlbrt.reductions.places import Places


def field_of(data: Any, spec: ArraySpec, name: str = "A") -> Field:
    return array_field(name, data, spec, IndexMap(0, 1))


def watch_over(
    values: dict[str, Any], fields: tuple[Field, ...] = (), dealt: range = range(2), *, whole: bool = True
) -> Watch:
    slots = [each.data for each in fields]
    return Watch(values, slots, fields, set(), Spans.of(dealt), Places(), whole=whole)


NOTHING = Spans(())


@pytest.fixture(autouse=True)
def _no_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's own process may have modules beside it whose data cannot be pickled."""
    monkeypatch.setattr("dlbrt.mpi.watch.collect", dict)


def _spawn(seed: Any) -> None:
    seed.spawn(1)


def _store(seed: Any) -> None:
    seed.pool[0] += 1


@pytest.mark.parametrize("change", [_spawn, _store])
def test_a_seed_that_is_drawn_from_stays_as_it_is(change: Callable[[Any], None]) -> None:
    seeds = np.random.SeedSequence(1).spawn(3)
    watch = watch_over({"seeds": seeds})
    np.random.default_rng(seeds[1]).random()
    assert watch.contradiction(NOTHING) is None
    change(seeds[1])
    found = watch.contradiction(NOTHING)
    assert found is not None
    assert "seeds[1]" in found


@pytest.mark.parametrize("change", [_spawn, _store])
def test_a_list_of_seeds_that_travels_by_rows_is_looked_at(change: Callable[[Any], None]) -> None:
    seeds = np.random.SeedSequence(1).spawn(3)
    watch = watch_over({"seeds": seeds}, (field_of(seeds, BLOCK(0, "r"), "seeds"),))
    np.random.default_rng(seeds[1]).random()
    assert watch.contradiction(NOTHING) is None
    change(seeds[1])
    assert (watch.contradiction(NOTHING) or "").startswith("seeds")


def test_nothing_changed() -> None:
    values = {"cfg": {"dt": 1.0}, "u": np.zeros(4)}
    assert watch_over(values).contradiction(NOTHING) is None


def test_an_object_is_named_by_its_path() -> None:
    values: dict[str, Any] = {"cfg": {"dt": 1.0, "grid": [1, 2]}}
    watch = watch_over(values)
    values["cfg"]["grid"][1] = 3
    assert watch.contradiction(NOTHING) == "cfg['grid'][1]"


def test_rows_that_iterations_store_to_may_change_and_no_others() -> None:
    array = np.zeros(10)
    watch = watch_over({"A": array}, (field_of(array, BLOCK(0, "rw")),))
    array[:3] = 1.0
    assert watch.contradiction(Spans.of(range(3))) is None
    assert watch.contradiction(Spans.of(range(2))) == "row 2 of A"


def test_rows_of_an_array_that_is_only_read_may_not_change_unless_they_come() -> None:
    array = np.zeros(10)
    watch = watch_over({"A": array}, (field_of(array, BLOCK(0, "r")),), whole=False)
    array[7] = 1.0
    assert watch.contradiction(Spans.of(range(10))) == "row 7 of A"
    assert watch.contradiction(Spans.of(range(10)), [Spans.of(range(6, 9))]) is None


def test_elements_of_a_list_that_is_only_read_are_looked_at() -> None:
    rows = [[k] for k in range(5)]
    watch = watch_over({"L": rows}, (field_of(rows, BLOCK(0, "r"), "L"),))
    rows[3].append(1)
    assert watch.contradiction(Spans.of(range(5))) == "L[3][1]"


def test_an_array_gathered_by_elements_is_left_to_its_twin() -> None:
    array = np.zeros(10)
    watch = watch_over({"A": array}, (field_of(array, WHOLE("rw")),))
    array[7] = 1.0
    assert watch.contradiction(NOTHING) is None


@pytest.fixture
def restored() -> Iterator[None]:
    state, environ, directory = random.getstate(), dict(os.environ), os.getcwd()
    yield
    random.setstate(state)
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(directory)


@pytest.mark.usefixtures("restored")
def test_the_state_of_modules_and_of_the_process_is_looked_at() -> None:
    for change, name in (
        (random.random, "the state of random"),
        (lambda: os.environ.update(DLB_TEST_WATCH="1"), "os.environ"),
        (lambda: os.chdir("/"), "the current directory"),
    ):
        watch = watch_over({})
        change()
        found = watch.contradiction(NOTHING)
        assert found is not None
        assert found.startswith(name)


def test_an_object_that_can_no_longer_be_pickled_is_a_change() -> None:
    values: dict[str, Any] = {"cfg": {}}
    watch = watch_over(values)
    values["cfg"]["it"] = iter(())
    found = watch.contradiction(NOTHING)
    assert found is not None
    assert "can no longer be sent" in found


def test_what_cannot_be_compared_is_not_taken_as_unchanged() -> None:
    found = watch_over({"cfg": {"it": iter(())}}).contradiction(NOTHING)
    assert found is not None
    assert "cannot be pickled" in found


class Told:
    """Stands for watches that find, one iteration after the other, what they are told."""

    seconds = 1.0

    def __init__(self, found: Iterable[str | None]) -> None:
        self._found = iter(found)
        self.made = 0

    def make(self) -> Watch:
        self.made += 1
        return cast("Watch", self)

    def contradiction(self, _done: Spans) -> str | None:
        return next(self._found)


@pytest.mark.parametrize(
    ("found", "verdict", "wanted", "made"),
    [
        ([None], None, 0, 1),
        (["x", None, None], None, 0, 2),
        (["x", "x"], "x", 2, 2),
        (["x", None], None, 1, 2),
        (["x", None, "y"], "y", 1, 2),
    ],
    ids=["nothing", "a cache is filled", "again", "one clean iteration", "another thing"],
)
def test_probation(found: list[str | None], verdict: str | None, wanted: int, made: int) -> None:
    probation, told = Probation(), Told(found)
    probation.wanted = 1
    begun = SingleRank(Spans.of(range(9)))
    answer = None
    for _ in found:
        assert answer is None
        assert probation.wanted
        probation.begin(told.make)
        answer = probation.contradiction(begun)
    assert (answer, probation.wanted, told.made) == (verdict, wanted, made)
    # A watch that has found something is spent; the one that has not looks on.
    assert probation.goes_on == (found[-1] is None and wanted > 0)
    spent = len(found) - found.count(None)
    assert probation.seconds == spent
    assert (probation.take_watch() is told) == (found[-1] is None)


def test_without_a_watch_there_is_no_contradiction() -> None:
    assert Probation().contradiction(None) is None


@pytest.mark.parametrize("axis", [0, 1])
def test_only_what_lies_after_the_gap_is_undone(axis: int) -> None:
    array = np.zeros((10, 10))
    undo = Undo([field_of(array, BLOCK(axis, "rw"))])
    assert undo.in_order
    lines = np.moveaxis(array, axis, 0)
    for stretch in (range(4, 8), range(9, 10)):
        undo.keep(stretch)
        lines[stretch.start : stretch.stop] += 1
    assert not undo.in_order
    undo.undo(6)
    assert lines[:, 0].tolist() == [0, 0, 0, 0, 1, 1, 0, 0, 0, 0]


def test_iterations_dealt_in_turn_and_elements_of_lists_are_undone() -> None:
    rows: list[Any] = [None] * 9
    undo = Undo([field_of(rows, BLOCK(0, "w"), "L")])
    undo.keep(range(3, 9, 3))
    rows[3] = rows[6] = "new"
    undo.undo(4)
    assert rows == [None, None, None, "new", None, None, None, None, None]


def test_what_cannot_be_undone() -> None:
    rows = [[0], [0]]
    assert not Undo([field_of(rows, BLOCK(0, "rw", in_place=True), "L")]).possible
    assert not Undo([field_of(np.zeros(3), WHOLE("rw"))]).possible
    assert Undo([field_of(np.zeros(3), BLOCK(0, "rw"))]).possible


@pytest.mark.parametrize(
    ("parts", "gap"),
    [([], 0), ([range(3)], 3), ([range(1, 3)], 0), ([range(3), range(5, 9)], 3), ([range(0, 9, 2)], 1)],
)
def test_the_first_gap(parts: list[range], gap: int) -> None:
    assert first_gap(Spans.of(*parts)) == gap


def test_parts_that_meet_have_no_gap() -> None:
    assert first_gap(Spans((range(2, 5), range(2), range(5, 6)))) == 6


def test_a_sentence_names_three_calls() -> None:
    said = contradicted("P.n", {"a": 1, "b": 2, "c": 3, "d": 4, "operators of x": 0})
    assert said.startswith("P.n has changed")
    assert "a in line 1, b in line 2, c in line 3 and 2 more" in said


def test_objects_of_other_packages_have_operators_that_nobody_has_seen() -> None:
    assert foreign_object({"a": 1, "b": np.zeros(3), "c": [1.0], "d": {"k": "v"}}) is None
    made = type("Thing", (), {"__module__": "elsewhere.things"})()
    assert foreign_object({"x": made}) == "operators of Thing (x)"
    assert foreign_object({"xs": [made]}) == "operators of Thing (xs)"
    grows = "reading keys that a defaultdict lacks (d)"
    assert foreign_object({"d": defaultdict(int)}) == grows
    assert foreign_object({"d": {"a": defaultdict(list)}}) == grows
    assert foreign_object({"d": defaultdict(None, {"a": 1})}) is None


def test_what_is_drawn_and_what_is_left_for_the_exit_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.figure()
    pyplot.plot([1, 2])
    try:
        watch = watch_over({})
        pyplot.close(pyplot.figure())
        assert watch.contradiction(NOTHING) is None
        pyplot.plot([1, 2])
        assert "of pyplot" in str(watch.contradiction(NOTHING))
    finally:
        pyplot.close("all")
    watch = watch_over({})
    monkeypatch.setattr("atexit._ncallbacks", lambda: -1)
    assert watch.contradiction(NOTHING) == "what runs at exit"


@pytest.mark.parametrize(
    "hook",
    [
        "def __getstate__(self): return {'w': self.w}",
        "def __reduce__(self): return Model, ()",
        "copyreg.pickle(Model, lambda model: (Model, ()))",
    ],
)
def test_what_an_object_leaves_out_of_its_pickle_is_looked_at(hook: str) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    inside = hook.startswith("def")
    exec("import copyreg\nclass Model:\n    w = 1\n    " + (hook if inside else f"pass\n{hook}"), names)
    model = names["Model"]()
    model.w, model.calls, model.steps = 1, 1, iter(())
    watch = watch_over({"model": model})
    assert watch.contradiction(NOTHING) is None
    model.calls += 1
    assert watch.contradiction(NOTHING) == "model.calls"
    copyreg.dispatch_table.pop(names["Model"], None)
