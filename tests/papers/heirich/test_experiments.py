"""The experiments after Heirich and Taylor, at small sizes: what they show of the method."""

from __future__ import annotations

import pytest
from papers.heirich import Mesh, bow_shock, discrepancy, injection, large_steps, partial, point, unstructured
from papers.heirich.chapter import ends
from papers.heirich.modes import tau
from papers.heirich.table_1 import exchanges


def test_a_point_on_512_processors_falls_as_recomputed() -> None:
    found, total = point.course(162)
    assert (found[59], found[162]) == (pytest.approx(999.54, abs=0.005), pytest.approx(199.23, abs=0.005))
    assert (point.first(found, point.POINTS / 10), point.first(found, 200)) == (7, 162)
    assert total == point.POINTS


def test_whole_points_come_nearer_where_links_carry_remainders() -> None:
    carried, rounded_each = (point.in_units(500, rounded_each=each) for each in (False, True))
    assert round(carried[-1], 1) == 3.9
    assert round(rounded_each[-1]) == 45
    assert rounded_each[-1] == rounded_each[-100]


def test_the_condition_as_printed_does_not_conserve() -> None:
    assert point.mirrored((4, 4, 4), 2000) == pytest.approx(1_492_711, abs=1)
    assert point.mirrored((0, 0, 0), 2000) == pytest.approx(186_589, abs=1)


def test_the_intervals_of_inner_iterations() -> None:
    assert ends(3) == pytest.approx([0.04466, 0.62201, 0.83333], abs=5e-6)
    assert ends(2)[-1] == pytest.approx(0.75)


@pytest.mark.parametrize(("alpha", "side", "less"), [(0.1, 8, 0), (0.1, 32, 0), (0.01, 8, 0), (0.01, 32, 1)])
def test_runs_of_the_method_take_the_exchanges_that_all_modes_say(alpha: float, side: int, less: int) -> None:
    """One less where inner iterations, which do not solve a step exactly, make the difference."""
    assert exchanges(alpha, side) == tau(alpha, (side,) * 3) - less


def test_injected_loads_are_spread_faster_than_they_come() -> None:
    found = [injection.injection(12, seed, 60) for seed in range(2)]
    for one in found:
        assert injection.LARGEST > one.injected > one.exchanged > 20 * one.quiet
        assert one.conserved
    assert found[0].injected != found[1].injected


def test_a_thicker_shock_lasts_longer() -> None:
    """Of a thin one, high spatial frequencies are most, which go first."""
    found = [bow_shock.shock(24, thickness) for thickness in bow_shock.SHELLS]
    steps = [int(bow_shock.steps(one)) for one in found]
    assert 10 < steps[0] < steps[1] < steps[2]
    assert all(one.left[10] > one.left[70] > 0.05 for one in found)
    assert {one.lost for one in found} == {0.0}


def test_a_part_is_balanced_and_nothing_changes_elsewhere() -> None:
    found = partial.balanced(40, 400)
    assert found.processors == 512
    assert next(step for step, left in enumerate(found.left) if left <= 0.1) < 100
    assert found.left[-1] < 0.001
    assert (found.changed, found.lost) == (0, 0)


def test_large_steps_save_inner_iterations_as_their_gains_say() -> None:
    mesh = Mesh((large_steps.SIMULATED,) * 3)
    schedules = large_steps.schedules(mesh)
    cycles = {name: large_steps.tenth(mesh, schedule) for name, schedule in schedules.items()}
    spent = [cycles[name] * schedule.iterations for name, schedule in schedules.items()]
    assert spent[0] == 459
    assert min(spent[1:]) < spent[0] / 5
    for name, schedule in schedules.items():
        assert len(large_steps.simulated(name, schedule).left) - 1 <= cycles[name]


def test_an_unstructured_grid_becomes_whole_parts_with_short_borders() -> None:
    found = unstructured.spread(16, 3, 60)
    assert found.left[-1] < 5
    assert found.owed == 0
    assert found.cut[-1] / found.cubes < 1.15
    assert set(found.pieces) == {1}
    assert found.left[0] == discrepancy([0.0] * 26 + [16.0**3])
