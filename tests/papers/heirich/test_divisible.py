"""Work that can be divided: the paper's case of 512 processors, exact conservation, parts of a mesh."""

from __future__ import annotations

from math import fsum, inf, nan

import numpy as np
import pytest
from dlbrt.data.layout import Floats
from hypothesis import given, settings
from hypothesis import strategies as st
from papers.heirich import Boundary, Diffusion, DiffusionStep, Mesh, Schedule, discrepancy, tau
from papers.heirich.divisible import on_grain

from tests.papers.heirich.dense import links, step_matrix
from tests.papers.heirich.meshes import Case, cases

TENTH = Schedule.every(0.1, 3)


def point(sides: tuple[int, ...], host: tuple[int, ...], amount: float = 1e6) -> Floats:
    work = np.zeros(sides)
    work[host] = amount
    return work


def course(diffusion: Diffusion, cycles: int) -> list[float]:
    """The discrepancy after 0, 1 .. cycles."""
    found = [discrepancy(diffusion.work)]
    for _ in range(cycles):
        diffusion.advance()
        found.append(discrepancy(diffusion.work))
    return found


@pytest.mark.parametrize("host", [(4, 4, 4), (3, 4, 4), (4, 3, 3)])
def test_a_million_points_on_one_of_512(host: tuple[int, int, int]) -> None:
    """Figure 4: a mesh with ends, alpha .1, three inner iterations."""
    diffusion = Diffusion(Mesh((8, 8, 8)), point((8, 8, 8), host), TENTH)
    found = course(diffusion, 511)
    assert found[59] == pytest.approx(999.54, abs=5e-3)
    assert found[162] == pytest.approx(199.23, abs=5e-3)
    assert next(step for step, each in enumerate(found) if each <= 200) == 162
    assert 1 - found[6] / found[0] == pytest.approx(0.8985, abs=2e-4)
    assert next(step for step, each in enumerate(found) if each <= 0.1 * found[0]) == 7
    assert found[500] == pytest.approx(1.168, abs=5e-4)
    assert next(step for step, each in enumerate(found) if each <= 1) == 511
    assert fsum(diffusion.work.ravel()) == 1e6


def test_theory_and_simulation_agree_on_a_periodic_mesh() -> None:
    """Of what is above the average at the host; the exact step is implicit."""
    diffusion = Diffusion(Mesh((16, 16, 16), Boundary.PERIODIC), point((16,) * 3, (0, 0, 0)), TENTH)
    found = course(diffusion, 7)
    assert found[6] > 0.1 * found[0] >= found[7]
    assert tau(0.1, (16, 16, 16)) == 7


@pytest.mark.parametrize(("host", "total"), [((4, 4, 4), 1_492_711), ((0, 0, 0), 186_589)])
def test_the_mirror_that_the_paper_prints_loses_or_makes_work(host: tuple[int, ...], total: int) -> None:
    """With u_0 = u_2 and u := v, which is why neither is what `Diffusion` does."""
    u = point((8, 8, 8), host)
    for _ in range(1000):
        v = u
        for _ in range(3):
            ghosts = np.pad(v, 1, mode="reflect")
            around = sum(np.roll(ghosts, by, axis)[1:-1, 1:-1, 1:-1] for axis in range(3) for by in (-1, 1))
            v = (u + 0.1 * around) / 1.6
        u = v
    assert u.sum() == pytest.approx(total, abs=1)


@pytest.mark.parametrize("boundary", Boundary)
def test_a_smooth_disturbance_falls_at_the_rate_of_its_mode(boundary: Boundary) -> None:
    """A test on a periodic mesh passes nearly four times as fast."""
    periodic = boundary is Boundary.PERIODIC
    angle = np.pi * ((2 if periodic else 1) * (np.arange(8) + 0.5) / 8)
    work = 10 + np.broadcast_to(np.cos(angle)[:, None, None], (8, 8, 8))
    found = course(Diffusion(Mesh((8, 8, 8), boundary), work, TENTH), 20)
    assert np.log(found[10] / found[20]) / 10 == pytest.approx(0.0569 if periodic else 0.0151, rel=0.03)


@settings(deadline=None)
@given(cases(), st.integers(1, 4))
def test_a_cycle_is_what_the_definition_says(case: Case, cycles: int) -> None:
    diffusion = Diffusion(case.mesh, case.work, case.schedule, part=case.part)
    diffusion.advance(cycles)
    inside = np.ones(case.mesh.sides, bool) if case.part is None else case.part
    opened = [(a, b) for a, b in links(case.mesh) if inside.flat[a] and inside.flat[b]]
    matrix = np.linalg.matrix_power(step_matrix(case.mesh, case.schedule, opened), cycles)
    expected = (matrix @ case.work.ravel()).reshape(case.mesh.sides)
    assert diffusion.work == pytest.approx(expected, rel=1e-9, abs=1e-9 * (1 + case.work.sum()))


@settings(deadline=None)
@given(cases(), st.integers(1, 30))
def test_work_is_conserved_to_the_last_bit(case: Case, cycles: int) -> None:
    diffusion = Diffusion(case.mesh, case.work, case.schedule, part=case.part)
    before = diffusion.work
    diffusion.advance(cycles)
    assert fsum(diffusion.work.ravel()) == fsum(before.ravel())
    assert fsum(before.ravel()) == pytest.approx(fsum(case.work.ravel()), rel=1e-12)
    assert (np.abs(before - case.work) <= diffusion.grain).all()


@settings(deadline=None)
@given(cases())
def test_where_steps_are_positive_no_amount_leaves_the_range(case: Case) -> None:
    diffusion = Diffusion(case.mesh, case.work, Schedule.every(0.15, case.mesh.dimensions), part=case.part)
    low, high, slack = case.work.min(), case.work.max(), 50 * diffusion.grain
    for _ in range(5):
        diffusion.advance()
        assert diffusion.work.min() >= low - slack
        assert diffusion.work.max() <= high + slack


@settings(deadline=None)
@given(cases())
def test_outside_of_a_part_nothing_changes(case: Case) -> None:
    part = np.zeros(case.mesh.sides, bool) if case.part is None else case.part
    diffusion = Diffusion(case.mesh, case.work, case.schedule, part=part)
    before = diffusion.work
    diffusion.advance(3)
    assert (diffusion.work[~part] == before[~part]).all()
    assert fsum(diffusion.work[part]) == fsum(before[part])


def test_a_part_is_balanced_while_the_rest_is_left_alone() -> None:
    work = point((6, 6), (1, 1), 900.0) + point((6, 6), (5, 5), 77.0)
    part = np.zeros((6, 6), bool)
    part[:3, :3] = True
    diffusion = Diffusion(Mesh((6, 6)), work, Schedule.every(0.2, 2), part=part)
    diffusion.advance(300)
    assert diffusion.work[part] == pytest.approx(np.full(9, 100.0), rel=1e-6)
    assert diffusion.work[5, 5] == 77


def test_a_part_in_two_pieces_is_balanced_within_each() -> None:
    diffusion = Diffusion(
        Mesh((5,)), [8.0, 0, 5, 1, 3], Schedule.every(0.2, 1), part=[True, True, False, True, True]
    )
    diffusion.advance(200)
    assert diffusion.work == pytest.approx([4, 4, 5, 2, 2])


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30), st.integers(-30, 2))
def test_amounts_are_put_on_a_grain_with_their_sum(amounts: list[float], exponent: int) -> None:
    grain = 2.0**exponent
    found = on_grain(np.array(amounts), grain)
    assert (found / grain == np.floor(found / grain)).all()
    assert (np.abs(found - amounts) <= grain).all()
    assert abs(fsum(found) - fsum(amounts)) <= grain / 2 + 1e-9


def test_what_is_injected_is_counted() -> None:
    diffusion = Diffusion(Mesh((4, 4)), np.full((4, 4), 0.1), Schedule.every(0.2, 2), most=1000.0)
    start = fsum(diffusion.work.ravel())
    given = [diffusion.inject((k % 4, k // 4), 10.0 / 3) for k in range(16)]
    diffusion.advance(50)
    assert fsum(diffusion.work.ravel()) == fsum([start, *given])
    assert given[0] == pytest.approx(10 / 3)


@pytest.mark.parametrize("amount", [-1.0, 1001.0])
def test_what_is_injected_is_not_negative_nor_beyond_what_was_said(amount: float) -> None:
    diffusion = Diffusion(Mesh((3,)), np.ones(3), Schedule.every(0.2, 1), most=1000.0)
    with pytest.raises(ValueError, match=rf"expected 0 to 998\.\d+ more, .*found {amount}"):
        diffusion.inject((0,), amount)


@pytest.mark.parametrize("scale", [0.0, 5e-324, 1e-310, 1e-200, 1e150])
def test_amounts_of_any_size(scale: float) -> None:
    diffusion = Diffusion(Mesh((4,)), scale * np.array([4.0, 0, 0, 0]), Schedule.every(0.2, 1))
    before = diffusion.work
    diffusion.advance(200)
    assert fsum(diffusion.work) == fsum(before)
    assert diffusion.work == pytest.approx(np.full(4, scale), rel=1e-6, abs=1e-280)


def test_a_large_step_iterated_until_safe_balances_in_few_exchanges() -> None:
    diffusion = Diffusion(
        Mesh((8, 8, 8)), point((8, 8, 8), (4, 4, 4)), Schedule((DiffusionStep.iterated(5.0, 3),))
    )
    assert course(diffusion, 20)[-1] < 50
    assert fsum(diffusion.work.ravel()) == 1e6


@pytest.mark.parametrize("work", [[1.0, nan], [1.0, inf], [1.0, -2.0], [1.0], [[1.0, 2.0]]])
def test_bad_amounts_are_refused(work: list[float]) -> None:
    with pytest.raises(ValueError, match=r"expected (finite amounts of 0 or more|amounts of the shape)"):
        Diffusion(Mesh((2,)), work, Schedule.every(0.1, 1))


def test_amounts_beyond_doubles_are_refused() -> None:
    with pytest.raises(ValueError, match="expected amounts whose squares have a finite sum"):
        Diffusion(Mesh((2,)), [1.0, 1.0], Schedule.every(0.1, 1), most=1e308)


def test_a_schedule_is_for_as_many_dimensions() -> None:
    with pytest.raises(ValueError, match=r"expected a schedule for 2 dimension\(s\), found one for 3"):
        Diffusion(Mesh((2, 2)), np.ones((2, 2)), TENTH)


@pytest.mark.parametrize("part", [[True], [1, 0], [[True, False]]])
def test_a_part_is_booleans_of_the_shape_of_the_mesh(part: list[bool]) -> None:
    with pytest.raises(ValueError, match=r"expected booleans of the shape \(2,\), found"):
        Diffusion(Mesh((2,)), [1.0, 1.0], Schedule.every(0.1, 1), part=part)
