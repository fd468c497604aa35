"""Random generators that each iteration seeds itself: which forms are taken, and which are refused."""

from __future__ import annotations

import pytest

from tests.dlbc.passes.planning import codes_of, plan_of

HEAD = (
    "import random\nimport numpy as np\nfrom numpy.random import seed\nx = [0] * n\n"
    "def fix(s):\n    random.seed(s)\n    np.random.seed(seed=s)\n"
    "def draw(s):\n    'text'\n    t = s + 1\n    np.random.seed(t)\n    return np.random.rand()\n"
    "def late(s):\n    u = np.random.rand()\n    np.random.seed(s)\n    return u\n"
    "def lazily(s):\n    np.random.seed(s)\n    yield np.random.rand()\n"
    "def perhaps(s):\n    if s:\n        np.random.seed(s)\n"
)


def program(body: str, clauses: str = "parallel") -> str:
    lines = "".join(f"    {line}\n" for line in body.split("; "))
    return f"{HEAD}# dlb: {clauses}\nfor i in range(n):\n{lines}print(x)\n"


@pytest.mark.parametrize(
    ("body", "generators"),
    [
        ("random.seed(i); x[i] = random.random()", ("random",)),
        ("np.random.seed(i); x[i] = np.random.rand()", ("numpy.random",)),
        ("seed(i); x[i] = np.random.rand()", ("numpy.random",)),
        ("fix(i); x[i] = np.random.rand() + random.random()", ("numpy.random", "random")),
        ("fix(i); x[i] = np.random.rand()", ("numpy.random", "random")),
        ("x[i] = draw(i)", ("numpy.random",)),
        ("k = int(i * 1.5); x[i] = float(draw(k)) * 2", ("numpy.random",)),
        ("rng = np.random.default_rng(i); np.random.seed(i); x[i] = rng.random() + np.random.rand()",
         ("numpy.random",)),
    ],
)  # fmt: skip
def test_a_seed_at_the_head_makes_draws_the_iterations_own(body: str, generators: tuple[str, ...]) -> None:
    plan = plan_of(program(body))
    assert plan.seeded == generators
    assert not plan.watched


@pytest.mark.parametrize(
    "body",
    [
        "x[i] = np.random.rand(); np.random.seed(i)",
        "np.random.seed(); x[i] = np.random.rand()",
        "np.random.seed(None); x[i] = np.random.rand()",
        "random.seed(i); x[i] = np.random.rand()",
        "x[i] = late(i)",
        "list(lazily(i)); x[i] = np.random.rand()",
        "perhaps(i); x[i] = np.random.rand()",
        "x[i] = i and draw(i)",
        "_ = [draw(k) for k in range(i)]; x[i] = np.random.rand()",
    ],
)
def test_draws_that_may_come_before_a_seed_are_refused(body: str) -> None:
    assert "DLB404" in codes_of(program(body))


def test_compiled_code_has_generators_of_its_own() -> None:
    assert "DLB404" in codes_of(program("np.random.seed(i); x[i] = np.random.rand()", "parallel, jit"))
