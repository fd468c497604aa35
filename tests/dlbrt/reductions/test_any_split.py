"""Whatever the split over ranks and runs, contributions are what the loop itself leaves, to the bit."""

from __future__ import annotations

import copy
import struct
from collections import Counter, defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from dlbrt.reductions.contributions import LoopContributions
from dlbrt.reductions.kinds import ELEMENTS, LAST, REDUCE, SELECT, ContributionKind, grouping
from hypothesis import given
from hypothesis import strategies as st

from tests.dlbrt.reductions.ranks import Body, dealings, shared

FLOATS = st.sampled_from(
    [0.0, -0.0, 0.1, 1e16, -1e16, 3.3, float("inf"), float("-inf"), float("nan"), 5e-324]
)
NUMBERS = FLOATS | st.integers(-3, 3) | FLOATS.map(np.float64) | st.booleans()


def bits(value: Any) -> Any:
    """A value down to type and bits."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, float):
        return type(value).__name__, "nan" if value != value else struct.pack("d", value)
    if isinstance(value, dict):
        return type(value).__name__, [(bits(k), bits(v)) for k, v in value.items()]
    if isinstance(value, list | tuple):
        return type(value).__name__, [bits(v) for v in value]
    return type(value).__name__, repr(value)


def assert_agree(
    kinds: dict[str, ContributionKind],
    values: dict[str, Any],
    body: Body,
    data: st.DataObject,
    n: int,
    **more: Any,
) -> dict[str, Any]:
    """Run both ways, and compare; what the ranks came to."""
    dealt = data.draw(dealings(n))
    long = data.draw(st.sampled_from([1, 5, 1 << 16]))
    failing = data.draw(st.none() | st.integers(0, max(0, n - 1)))
    expected = copy.deepcopy(values)
    none = LoopContributions()
    for position in range(n if failing is None else min(n, failing + 1)):
        body(none, expected, position)
    end = 2**53 if failing is None else failing
    dropped = [[piece for run in runs for piece in _without_later(run, end)] for runs in dealt]
    with np.errstate(all="ignore"):
        found, fault = shared(kinds, values, body, dropped, end=end, long=long, **more)
    assert fault is None
    assert {name: bits(found[name]) for name in expected} == {name: bits(v) for name, v in expected.items()}
    return found


def _without_later(run: range, end: int) -> list[range]:
    """A failing rank stops at the position; others may have gone on."""
    if end in run:
        return [run[: run.index(end) + 1]]
    return [run]


@pytest.mark.parametrize("update", ["s += e", "s = s + e", "s = e + s"])
@given(st.data(), st.lists(NUMBERS, max_size=60), NUMBERS)
def test_sums_of_numbers(update: str, data: st.DataObject, operands: list[Any], start: Any) -> None:
    code = compile(update, "update", "exec")

    def body(_: LoopContributions, names: dict[str, Any], i: int) -> None:
        names["e"] = operands[i]
        exec(code, {}, names)
        del names["e"]

    with np.errstate(all="ignore"):
        assert_agree({"s": REDUCE("+")}, {"s": start}, body, data, len(operands))


@pytest.mark.parametrize(
    ("update", "kind"),
    [
        ("s -= e", REDUCE("-")),
        ("s = s - e", REDUCE("-")),
        ("s *= e", REDUCE("*")),
        ("s = max(s, e)", REDUCE("max")),
        ("s = min(e, s)", REDUCE("min")),
    ],
)
@given(st.data(), st.lists(st.lists(FLOATS, max_size=3), max_size=40), FLOATS)
def test_several_updates_of_an_iteration(
    update: str, kind: ContributionKind, data: st.DataObject, operands: list[list[float]], start: float
) -> None:
    code = compile(update, "update", "exec")

    def body(_: LoopContributions, names: dict[str, Any], i: int) -> None:
        for names["e"] in operands[i]:
            exec(code, {}, names)
        names.pop("e", None)

    with np.errstate(all="ignore"):
        assert_agree({"s": kind}, {"s": start}, body, data, len(operands))


TYPES = [
    (st.text(max_size=3), "from "),
    (st.lists(st.integers(), max_size=3), [0]),
    (st.fractions(), Fraction(1, 7)),
    (st.tuples(st.integers()), ()),
    (FLOATS.map(lambda x: np.array([x, 1.0])), np.array([0.5, -0.0])),
]


@pytest.mark.parametrize("place", range(len(TYPES)))
@given(st.data())
def test_sums_of_other_types(place: int, data: st.DataObject) -> None:
    drawn, start = TYPES[place]
    operands = data.draw(st.lists(drawn, max_size=30))

    def body(_: LoopContributions, names: dict[str, Any], i: int) -> None:
        operand = copy.copy(operands[i])
        names["s"] += operand
        if isinstance(operand, list):
            operand.append("changed afterwards")

    with np.errstate(all="ignore"):
        assert_agree({"s": REDUCE("+")}, {"s": copy.copy(start)}, body, data, len(operands))


@pytest.mark.parametrize("sign", ["-", "&", "|", "^"])
@given(st.data(), st.lists(st.sets(st.integers(0, 9)), max_size=30))
def test_sets(sign: str, data: st.DataObject, operands: list[set[int]]) -> None:
    code = compile(f"s {sign}= e", "update", "exec")

    def body(_: LoopContributions, names: dict[str, Any], i: int) -> None:
        names["e"] = operands[i]
        exec(code, {}, names)
        del names["e"]

    assert_agree({"s": REDUCE(sign)}, {"s": set(range(12))}, body, data, len(operands))


VALUES = st.sampled_from([0, 0.0, -0.0, 1, 1.0, True, 2.5, float("nan"), 7, np.float64(7.0), np.int64(2), -3])


@pytest.mark.parametrize("kind", [REDUCE("max"), REDUCE("min"), REDUCE("min", several=True)])
@given(st.data(), st.lists(st.tuples(VALUES, st.booleans()), max_size=60), VALUES)
def test_extremes_keep_the_one_that_python_keeps(
    kind: ContributionKind, data: st.DataObject, operands: list[tuple[Any, bool]], start: Any
) -> None:
    function = max if kind.operator == "max" else min

    def body(_: LoopContributions, names: dict[str, Any], i: int) -> None:
        value, reflected = operands[i]
        names["s"] = function(value, names["s"]) if reflected else function(names["s"], value)

    assert_agree({"s": kind}, {"s": start}, body, data, len(operands))


@pytest.mark.parametrize("operator", ["and", "or"])
@given(st.data(), st.lists(VALUES, max_size=30), VALUES)
def test_booleans_keep_the_operand(
    operator: str, data: st.DataObject, operands: list[Any], start: Any
) -> None:
    def body(_: LoopContributions, names: dict[str, Any], i: int) -> None:
        names["s"] = (names["s"] and operands[i]) if operator == "and" else (names["s"] or operands[i])

    assert_agree({"s": REDUCE(operator)}, {"s": start}, body, data, len(operands))


ORDERED = st.sampled_from([0, 0.0, -0.0, 1, 1.0, True, 2.5, float("nan"), 7, -3])


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">="])
@given(st.data(), st.lists(ORDERED, max_size=60), ORDERED)
def test_selections_take_what_belongs_together(
    sign: str, data: st.DataObject, operands: list[Any], start: Any
) -> None:
    code = compile(f"if new {sign} best: best, where = new, i", "update", "exec")

    def body(_: LoopContributions, names: dict[str, Any], i: int) -> None:
        names |= {"new": operands[i], "i": i}
        exec(code, {}, names)
        del names["new"], names["i"]

    assert_agree({"best": SELECT(sign, "where")}, {"best": start}, body, data, len(operands))


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">="])
@given(st.data(), st.lists(ORDERED, max_size=60))
def test_a_selection_takes_the_first_value_in_place_of_none(
    sign: str, data: st.DataObject, operands: list[Any]
) -> None:
    code = compile(f"if best is None or new {sign} best: best, where = new, i", "update", "exec")

    def body(_: LoopContributions, names: dict[str, Any], i: int) -> None:
        names |= {"new": operands[i], "i": i}
        exec(code, {}, names)
        del names["new"], names["i"]

    kinds = {"best": SELECT(sign, "where", none_first=True)}
    assert_agree(kinds, {"best": None}, body, data, len(operands))


class Priced(NamedTuple):
    cost: Any
    i: int


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">="])
@given(st.data(), st.lists(ORDERED, max_size=40))
def test_a_selection_compares_a_part(sign: str, data: st.DataObject, operands: list[Any]) -> None:
    text = f"""if best is None or new {sign} best[0]: best = new, i
if p.cost {sign} low.cost: low = p
if new {sign} top["cost"]: top, where = {{"i": i, "cost": new}}, i"""
    code = compile(text, "update", "exec")

    def body(_: LoopContributions, names: dict[str, Any], i: int) -> None:
        names |= {"new": operands[i], "i": i, "p": Priced(operands[i], i)}
        exec(code, {}, names)
        for name in ("new", "i", "p"):
            del names[name]

    kinds = {
        "best": SELECT(sign, by="[0]", none_first=True),
        "low": SELECT(sign, by=".cost"),
        "top": SELECT(sign, "where", by='["cost"]'),
    }
    values = {"best": None, "low": Priced(1.0, -1), "top": {"cost": 1}}
    assert_agree(kinds, values, body, data, len(operands))


@given(st.data(), st.lists(st.none() | NUMBERS, max_size=60), NUMBERS)
def test_the_last_store_counts(data: st.DataObject, stored: list[Any], start: Any) -> None:
    def body(_: LoopContributions, names: dict[str, Any], i: int) -> None:
        if stored[i] is not None:
            names["found"] = stored[i]

    assert_agree({"found": LAST()}, {"found": start}, body, data, len(stored))


@pytest.mark.parametrize("ufunc", [np.maximum, np.minimum, np.add])
@given(st.data(), st.lists(st.lists(FLOATS, min_size=3, max_size=3), max_size=30))
def test_arrays_updated_by_a_ufunc(ufunc: np.ufunc, data: st.DataObject, rows: list[list[float]]) -> None:
    def body(_: LoopContributions, names: dict[str, Any], i: int) -> None:
        with np.errstate(all="ignore"):
            if i % 2:
                ufunc(names["best"], rows[i], out=names["best"])
            else:
                ufunc(np.array(rows[i]), names["best"], out=names["best"])

    kind = {np.maximum: "max", np.minimum: "min", np.add: "+"}[ufunc]
    assert_agree({"best": ELEMENTS(kind)}, {"best": np.array([0.0, -0.0, 0.1])}, body, data, len(rows))


def _appended(names: dict[str, Any], k: int, e: int) -> None:
    names["s"][k].append(e)
    names["s"][k].extend([e, k])


def _counted(names: dict[str, Any], k: int, e: int) -> None:
    names["s"][k].update([e, e, k])


def _defaulted(names: dict[str, Any], k: int, e: int) -> None:
    names["s"].setdefault(k, []).append(e)


def _made(names: dict[str, Any], k: int, e: int) -> None:
    if e == 0:
        names["s"][k] = []
    names["s"].setdefault(k, [k]).append(e)
    names["s"][k].insert(0, e)


GROUPS = [
    (grouping(grows=False), _appended, lambda: [[] for _ in range(5)]),
    (grouping(grows=False), _appended, lambda: {k: [] for k in range(5)}),
    (grouping(grows=False), _appended, lambda: [[]] * 5),
    (grouping(grows=False), _appended, lambda: defaultdict(list)),
    (grouping(grows=False), _counted, lambda: defaultdict(Counter)),
    (grouping(grows=False), _defaulted, dict),
    (grouping(grows=True), _made, dict),
]


@pytest.mark.parametrize(("kind", "add", "make"), GROUPS)
@given(st.data(), st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=40))
def test_items_of_containers(
    kind: ContributionKind,
    add: Callable[[dict[str, Any], int, int], None],
    make: Callable[[], Any],
    data: st.DataObject,
    added: list[tuple[int, int]],
) -> None:
    def body(_: LoopContributions, names: dict[str, Any], i: int) -> None:
        add(names, *added[i])

    assert_agree({"s": kind}, {"s": make()}, body, data, len(added))


def _histogram(names: dict[str, Any], k: int, e: Any) -> None:
    names["s"][k] += e


def _stored(names: dict[str, Any], k: int, e: Any) -> None:
    names["s"][k] = e + names["s"][k] + 1


def _got(names: dict[str, Any], k: int, e: Any) -> None:
    names["s"][k] = names["s"].get(k, 2) + e


CONTAINERS = [
    (ELEMENTS("+"), _histogram, lambda: np.full(5, 0.1, np.float32)),
    (ELEMENTS("+"), _stored, lambda: np.full(5, 0.1, np.float32)),
    (ELEMENTS("+"), _histogram, lambda: [1e16] * 5),
    (ELEMENTS("+"), _got, dict),
    (ELEMENTS("+"), _histogram, lambda: defaultdict(float)),
]


@pytest.mark.parametrize("place", range(len(CONTAINERS)))
@given(st.data(), st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.1, 1e16, -0.0, 3])), max_size=60))
def test_elements(place: int, data: st.DataObject, updates: list[tuple[int, Any]]) -> None:
    kind, update, container = CONTAINERS[place]
    assert_agree(
        {"s": kind}, {"s": container()}, lambda _, names, i: update(names, *updates[i]), data, len(updates)
    )


WHOLE = [
    lambda: np.ones(5, np.int64),
    lambda: np.full(5, 250, np.uint8),
    lambda: [3, 2**70, 0, 0, 1],
    lambda: Counter({3: 1}),
    lambda: defaultdict(int, {9: 2}),
]


@pytest.mark.parametrize("place", range(len(WHOLE)))
@given(st.data(), st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=60))
def test_integers_on_private_copies(place: int, data: st.DataObject, updates: list[tuple[int, int]]) -> None:
    def body(_: LoopContributions, names: dict[str, Any], i: int) -> None:
        k, e = updates[i]
        if e != 2:
            names["s"][k] += e
        elif place >= 3:
            names["s"][k] = names["s"].get(k, 0) + e

    with np.errstate(all="ignore"):
        assert_agree({"s": ELEMENTS("+", integer=True)}, {"s": WHOLE[place]()}, body, data, len(updates))


@given(st.data(), st.lists(st.tuples(st.integers(0, 4), st.integers(-8, 8)), max_size=40))
def test_bits_on_private_copies(data: st.DataObject, updates: list[tuple[int, int]]) -> None:
    def body(_: LoopContributions, names: dict[str, Any], i: int) -> None:
        k, e = updates[i]
        names["a"][k] &= e
        names["b"][k] ^= e
        names["c"][k] |= e
        names["d"][k] -= e

    kinds = {
        "a": ELEMENTS("&", integer=True),
        "b": ELEMENTS("^", integer=True),
        "c": ELEMENTS("|", integer=True),
        "d": ELEMENTS("-", integer=True),
    }
    values = {"a": np.full(5, -1), "b": [9] * 5, "c": np.zeros(5, np.int16), "d": np.zeros(5, int)}
    assert_agree(kinds, values, body, data, len(updates))


@given(st.data(), st.integers(0, 40))
def test_containers_that_are_added_to(data: st.DataObject, n: int) -> None:
    def body(_: LoopContributions, names: dict[str, Any], i: int) -> None:
        row = [i]
        names["items"].append(row)
        row.append("later")
        names["items"].extend(iter([i, -i]))
        names["table"][i % 5] = row
        names["total"] += 0.1 * i
        names["found"].add(i % 7)

    values = {"items": ["first"], "table": {"a": 0}, "found": {3}, "total": 0.5}
    found = assert_agree({"total": REDUCE("+")}, values, body, data, n, ordered=("items", "table", "found"))
    rows = [row for row in found["items"] if isinstance(row, list)]
    assert all(any(row is stored for row in rows) for key, stored in found["table"].items() if key != "a")


@given(st.data(), st.lists(st.lists(NUMBERS, max_size=3), max_size=40))
def test_several_updates_do_not_depend_on_the_split(data: st.DataObject, operands: list[list[Any]]) -> None:
    def body(_: LoopContributions, names: dict[str, Any], i: int) -> None:
        for e in operands[i]:
            names["s"] += e

    with np.errstate(all="ignore"):
        alone, fault = shared(
            {"s": REDUCE("+", several=True)}, {"s": 0.1}, body, [[range(len(operands))]] if operands else []
        )
        dealt = data.draw(dealings(len(operands)))
        long = data.draw(st.sampled_from([1, 4, 1 << 16]))
        split, other = shared({"s": REDUCE("+", several=True)}, {"s": 0.1}, body, dealt, long=long)
    assert fault is None is other
    assert bits(alone["s"]) == bits(split["s"])


@given(st.data(), st.lists(st.integers(0, 9), max_size=40))
def test_what_fails_is_met_at_its_iteration_and_ends_there(data: st.DataObject, keys: list[int]) -> None:
    def body(_: LoopContributions, names: dict[str, Any], i: int) -> None:
        names["items"].append(i)
        names["counts"][keys[i]] += 1
        names["total"] += 0.1

    values: dict[str, Any] = {"items": [], "counts": dict.fromkeys((0, 1, 2, 3, 5, 6, 8, 9), 0), "total": 0.3}
    expected, failing = copy.deepcopy(values), None
    for i in range(len(keys)):
        try:
            body(LoopContributions(), expected, i)
        except KeyError:
            failing = i
            break
    dealt = data.draw(dealings(len(keys)))
    kinds = {
        "counts": ELEMENTS("+", integer=True, grows=True),
        "total": REDUCE("+"),
    }  # keys are not known where the body runs
    found, fault = shared(kinds, values, body, dealt, ordered=("items",), long=3)
    assert bits(found) == bits({name: expected[name] for name in found})
    if fault is not None:
        assert (type(fault.error), fault.error.args, fault.position) == (
            KeyError,
            (keys[fault.position],),
            failing,
        )
    else:
        assert failing is None


@pytest.mark.parametrize(
    "kinds",
    [
        {"s": REDUCE("+", order="any"), "p": REDUCE("*", order="any"), "w": ELEMENTS("+", order="any")},
        {"s": REDUCE("-", order="any"), "w": ELEMENTS("-", order="any")},
    ],
)
@given(st.data(), st.lists(st.integers(1, 3), max_size=40))
def test_any_order_is_exact_where_the_numbers_are(
    kinds: dict[str, ContributionKind], data: st.DataObject, operands: list[int]
) -> None:
    sign = kinds["s"].operator
    code = compile(
        f"s = s {sign} e; w[int(e)] {sign}= e" + ("; p *= 2.0" if "p" in kinds else ""), "update", "exec"
    )

    def body(_: LoopContributions, names: dict[str, Any], i: int) -> None:
        names["e"] = operands[i] * 0.5
        exec(code, {"int": int}, names)
        del names["e"]

    values = {"s": 1.0, "p": 1.0, "w": np.ones(3)}
    assert_agree(kinds, {name: values[name] for name in kinds}, body, data, len(operands))


WORDS = st.sampled_from(["a", "b", "c", 1, True, b"a", ("a", 1), ("a", (2,)), 2.5, "a"])
COUNTING: dict[str, Callable[[dict[str, Any], list[Any]], None]] = {
    "list": lambda names, words: names["totals"].update(words),
    "read out": lambda names, words: names["totals"].update(word for word in words),
    "text": lambda names, words: names["totals"].update("".join(w for w in words if type(w) is str)),
    "other": lambda names, words: names["other"].update(words),
    "counts": lambda names, words: names["totals"].update(dict.fromkeys(words, 2)),
    "named": lambda names, words: names["totals"].update(words, a=3),
    "float": lambda names, words: names["totals"].update(dict.fromkeys(words, 1e16)),
    "stored": lambda names, words: names["totals"].__setitem__("a", len(words) + 0.5),
    "sum": lambda names, words: names.__setitem__("total", names["total"] + 0.1 * len(words)),
    "item": lambda names, words: names["items"].append(words),
}
#: What shows where the journals are put together.
FAILING: dict[str, Callable[[dict[str, Any], list[Any]], None]] = {
    "unhashable": lambda names, _: names["totals"].update(["a", []]),
    "too few": lambda names, _: names["items"].append(),
    "too large": lambda names, _: names.__setitem__("total", names["total"] + 10**400),
    "no counter": lambda names, _: names["totals"].append(3),
}


def _steps(ways: dict[str, Any]) -> st.SearchStrategy[list[tuple[str, list[Any]]]]:
    return st.lists(st.tuples(st.sampled_from(sorted(ways)), st.lists(WORDS, max_size=4)), max_size=40)


def _counting_body(steps: list[tuple[str, list[Any]]]) -> Body:
    def body(_: LoopContributions, names: dict[str, Any], i: int) -> None:
        way, words = steps[i]
        names["other"].update(["x", str(i % 3)])
        (COUNTING | FAILING)[way](names, words)
        names["other"].update(["y"])

    return body


def _counters() -> dict[str, Any]:
    return {"totals": Counter({"b": 2}), "other": Counter(), "items": [], "total": 0.5}


@given(st.data(), _steps(COUNTING))
def test_what_counters_are_updated_by(data: st.DataObject, steps: list[tuple[str, list[Any]]]) -> None:
    ordered = ("totals", "other", "items")
    kinds = {"total": REDUCE("+")}
    assert_agree(kinds, _counters(), _counting_body(steps), data, len(steps), ordered=ordered)


@given(st.data(), _steps(COUNTING), st.sampled_from(sorted(FAILING)), _steps(COUNTING))
def test_counters_end_where_an_iteration_fails(
    data: st.DataObject, before: list[tuple[str, list[Any]]], way: str, after: list[tuple[str, list[Any]]]
) -> None:
    steps = [*before, (way, []), *after]
    body, expected = _counting_body(steps), _counters()
    for i in range(len(before)):
        body(LoopContributions(), expected, i)
    with pytest.raises((TypeError, AttributeError, OverflowError)):
        body(LoopContributions(), expected, len(before))
    dealt = data.draw(dealings(len(steps)))
    ordered = ("totals", "other", "items")
    found, fault = shared({"total": REDUCE("+")}, _counters(), body, dealt, ordered=ordered, long=3)
    assert fault is not None
    assert fault.position == len(before)
    assert bits(found) == bits({name: expected[name] for name in found})
