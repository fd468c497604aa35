"""What samples compute, compared with another way to compute it, at sizes down to nothing."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import numpy as np
import pytest

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
