"""What runs of iterations leave, asked for after a failure at any position: the latest set before it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from dlbrt.mpi.temporaries import Temporaries
from dlbrt.reductions.contributions import UNSET
from hypothesis import given
from hypothesis import strategies as st


def entries(temporaries: Temporaries, name: str = "t") -> tuple[tuple[int, Any], ...]:
    return temporaries.kept(everything=True).get(name, ())


def test_runs_that_meet_are_one_region_and_the_later_value_counts() -> None:
    found = Temporaries()
    found.keep(range(5), {"t": "a", "x": 1})
    found.keep(range(5, 9), {"t": "b", "x": UNSET})
    assert entries(found) == ((8, "b"),)
    assert entries(found, "x") == ((4, 1),)


def test_partners_join_downwards_and_the_upper_value_stays() -> None:
    found = Temporaries()
    found.keep(range(18, 20), {"t": "upper"})
    found.keep(range(15, 18), {"t": "lower"})
    found.keep(range(3), {"t": "start"})
    assert entries(found) == ((2, "start"), (19, "upper"))
    assert found.kept(everything=False) == {"t": ((19, "upper"),)}


def test_a_failing_run_is_not_joined_to_what_lies_above() -> None:
    found = Temporaries()
    found.keep(range(4, 5), {"t": 4})
    found.keep(range(2, 3), {"t": 2})
    found.keep(range(3, 4), {"t": 3}, failed=True)
    assert entries(found) == ((3, 3), (4, 4))


def test_of_dealt_iterations_the_last_is_remembered() -> None:
    found = Temporaries()
    for position in range(0, 40, 4):
        found.keep(range(position, position + 1), {"t": position, "x": UNSET}, dealt=True)
    assert entries(found) == ((36, 36),)
    assert entries(found, "x") == ()
    found.keep(range(40, 41), {"t": UNSET}, dealt=True)
    assert entries(found) == ((36, 36),), "another rank may have set it between 36 and 40"


@given(st.data())
def test_whatever_the_order_of_stretches_a_failure_finds_the_latest_before_it(data: st.DataObject) -> None:
    """Iterations set ``t`` or not; one rank does them in any order of stretches."""
    n = data.draw(st.integers(1, 30))
    sets = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    cuts = sorted({0, n, *data.draw(st.lists(st.integers(0, n), max_size=6))})
    stretches = data.draw(st.permutations([range(a, b) for a, b in pairwise(cuts)]))
    failing = data.draw(st.integers(0, n - 1))
    found, failed = Temporaries(), False
    for stretch in stretches:
        if failed and stretch.start > failing:
            continue
        run = range(stretch.start, failing + 1) if failing in stretch else stretch
        left = next((p for p in reversed(run) if sets[p]), UNSET)
        found.keep(run, {"t": left}, failed=failing in stretch)
        failed = failed or failing in stretch
    expected = next((p for p in range(failing, -1, -1) if sets[p]), None)
    known = [value for last, value in entries(found) if last <= failing]
    assert (known[-1] if known else None) == expected
