"""What samples compute, compared with another way to compute it, at sizes down to nothing."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from tests.samples.test_samples import SAMPLES


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, SAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def sieved(n: int) -> list[int]:
    """Least prime factors by crossing out multiples."""
    factor = [0] * (n + 1)
    for p in range(2, n + 1):
        for multiple in range(p, n + 1, p) if not factor[p] else ():
            factor[multiple] = factor[multiple] or p
    return factor


def test_primes_finds_the_least_factor_of_every_number() -> None:
    primes = loaded("primes")
    for n in (*range(201), 20011):
        assert primes.least_factors(n).tolist() == sieved(n)


def test_primes_prints_what_a_sieve_says_of_its_default() -> None:
    prime = np.ones(2_000_001, dtype=bool)
    prime[:2] = False
    for p in range(2, 1415):
        prime[p * p :: p] = False
    found = np.flatnonzero(prime)
    gaps = np.diff(found)
    lines = (SAMPLES / "expected" / "primes.txt").read_text().splitlines()
    assert lines[0] == f"primes up to 2000000: {len(found)}" == "primes up to 2000000: 148933"
    assert lines[2:4] == [f"largest: {found[-1]}", f"twins: {(gaps == 2).sum()}"]
    assert lines[4] == f"widest gap: {gaps.max()}, after {found[gaps.argmax()]}"


@pytest.mark.parametrize(("m", "n"), [(7, 7), (5, 12), (12, 5), (1, 1), (0, 3), (3, 0)])
def test_sgemv_is_the_product_of_the_blas(m: int, n: int) -> None:
    rng = np.random.default_rng(m + 100 * n)
    A, x, y = (rng.random(shape, dtype=np.float32) for shape in ((m, n), n, m))
    expected = 0.85 * A.astype(float) @ x + 0.15 * y
    loaded("sgemv").sgemv(np.float32(0.85), A, x, np.float32(0.15), y)
    assert y.dtype == np.float32
    assert y == pytest.approx(expected, rel=1e-5)


def test_a_walk_of_sgemv_goes_somewhere_else_with_certainty() -> None:
    pixels = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    A = loaded("sgemv").steps_between(pixels)
    assert A.diagonal().tolist() == [0.0, 0.0, 0.0]
    assert A.sum(axis=0) == pytest.approx([1.0, 1.0, 1.0])
    assert A[1, 0] == pytest.approx(16 * A[2, 0])  # half as far, 1 / d^4


@pytest.mark.parametrize("n", [1, 2, 3, 10, 41])
def test_lu_gives_the_factors_of_a_matrix_whatever_the_distribution(n: int) -> None:
    lu = loaded("lu")
    A = lu.dominant(n)
    scattered, blocks = A.copy(), A.copy()
    lu.factorize_scattered(scattered)
    lu.factorize_in_blocks(blocks)
    assert np.array_equal(scattered, blocks)
    assert (np.tril(blocks, -1) + np.eye(n)) @ np.triu(blocks) == pytest.approx(A, rel=1e-13)


@pytest.mark.parametrize("n", [1, 2, 11, 60])
def test_jacobi_solves_what_a_direct_method_solves(n: int) -> None:
    rng = np.random.default_rng(n)
    A, b = rng.random((n, n)) + n * np.eye(n), rng.random(n)
    jacobi = loaded("jacobi")
    x, passes = jacobi.jacobi(A, b, 1e-12)
    assert x == pytest.approx(np.linalg.solve(A, b), rel=1e-9)
    assert 1 < passes < jacobi.LIMIT
    assert jacobi.jacobi(A, b, -1.0)[1] == jacobi.LIMIT


def test_the_system_of_jacobi_says_that_forces_add_up_to_nothing() -> None:
    pixels = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    jacobi = loaded("jacobi")
    A, b = jacobi.system(pixels, np.array([3, 1, 3]))
    assert b.tolist() == [jacobi.HOLD, 0.0, 0.0]  # the first alone says what it is
    assert A.sum(axis=1) == pytest.approx([jacobi.HOLD, 0.0, 0.0])
    assert A[0, 1] == pytest.approx(256 * A[0, 2])  # half as far, 1 / d^8
    assert A.sum() - A.trace() == pytest.approx(-3.0)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 5), (3, 3), (20, 31)])
def test_heat2d_does_what_one_formula_for_the_field_does(rows: int, columns: int) -> None:
    heat2d = loaded("heat2d")
    u = heat2d.plate(rows, columns)
    expected = u.copy()
    for _ in range(9):
        old = expected.copy()
        around = (old[1:-1, :-2] + old[1:-1, 2:]) + (old[:-2, 1:-1] + old[2:, 1:-1])
        inner = old[1:-1, 1:-1]
        expected[1:-1, 1:-1] = inner + heat2d.DIFFUSION * (around - 4.0 * inner)
    assert np.array_equal(heat2d.diffuse(u, 9, 10), expected)


def test_the_picture_of_heat2d_is_read_by_others_as_it_was_written(tmp_path: Path) -> None:
    grey = np.arange(7 * 11, dtype=np.uint8).reshape(7, 11) * 3
    loaded("heat2d").write_png(tmp_path / "grey.png", grey)
    with Image.open(tmp_path / "grey.png") as picture:
        assert (picture.format, picture.mode) == ("PNG", "L")
        assert np.array_equal(np.asarray(picture), grey)


def next_generation(alive: set[tuple[int, int]], n: int | None) -> set[tuple[int, int]]:
    """By the list of living cells; on a torus of n x n, or without end."""
    near = Counter((i + k, j + h) for i, j in alive for k in (-1, 0, 1) for h in (-1, 0, 1))
    if n is not None:
        folded: Counter[tuple[int, int]] = Counter()
        for (i, j), count in near.items():
            folded[i % n, j % n] += count
        near = folded
    return {cell for cell, count in near.items() if count == 3 or (count == 4 and cell in alive)}


@pytest.mark.parametrize("n", [1, 2, 3, 8, 31])
def test_life_is_what_the_list_of_living_cells_gives(n: int, capsys: pytest.CaptureFixture[str]) -> None:
    life = loaded("life")
    board = life.seeded(n)
    alive = {(int(i), int(j)) for i, j in np.argwhere(board)}
    populations = []
    for _ in range(40):
        alive = next_generation(alive, n)
        populations.append(len(alive))
    assert {(int(i), int(j)) for i, j in np.argwhere(life.live(board, 40, 1))} == alive
    said = [int(line.split()[2]) for line in capsys.readouterr().out.splitlines()]
    assert said == populations


def test_the_r_pentomino_of_life_ends_as_is_known() -> None:
    alive, populations = set(loaded("life").R_PENTOMINO), []
    for _ in range(1105):
        populations.append(len(alive))
        alive = next_generation(alive, None)
    assert populations[:5] == [5, 6, 7, 9, 8]
    assert populations[1102] != 116
    assert populations[1103:] == [116, 116]
