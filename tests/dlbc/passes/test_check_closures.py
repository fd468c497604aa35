"""Functions that share names with a body: which may go where, and what `super()` stands for."""

from __future__ import annotations

from tests.dlbc.passes.planning import codes_of, plan_of, results_of

HEAD = "import numpy as np\nx = np.zeros(n)\nys = [0] * n\n"
INTEGRATE = "def integrate(f, a, b):\n    return sum(f(a + k) for k in range(b)) / b\n"
CLASSES = (
    "class Base:\n    def add(self, i):\n        self.k += i\n        return self.k\n"
    "    def at(self, i):\n        return i\n"
    "class Child(Base):\n    def g(self, i):\n        return super().{}(i)\n"
)


def loop(body: str) -> str:
    return "# dlb: parallel\nfor i in range(n):\n" + "".join(f"    {line}\n" for line in body.split("; "))


def test_a_function_that_is_handed_on_cannot_end_up_in_an_array_of_numbers() -> None:
    for body in ("x[i] = integrate(lambda t: t * i, 0, 9)", "f = lambda t: t * i; x[i] = integrate(f, 0, 9)"):
        assert plan_of(HEAD + INTEGRATE + loop(body))
        assert "DLB314" in codes_of(HEAD + INTEGRATE + loop(body.replace("x[i]", "ys[i]")))
    objects = HEAD.replace("zeros(n)", "zeros(n, dtype=object)")
    assert "DLB314" in codes_of(objects + INTEGRATE + loop("x[i] = integrate(lambda t: t * i, 0, 9)"))


def test_a_function_made_by_another_parallel_loop_ends_with_its_iteration() -> None:
    made = "f = lambda t: t * i; x[i] = f(2)"
    found = results_of(HEAD + loop(made) + loop(made))
    assert all(plan is not None for plan, _ in found)
    first, second = results_of(HEAD + loop(made) + loop("x[i] = f(2)"))
    assert first[0] is not None
    assert "DLB313" in [finding.code for finding in second[1]]


def test_a_name_that_a_function_within_another_reads_may_be_that_functions_own() -> None:
    """A parameter of the outer one has the name that the body binds."""
    make = "def make(k):\n    def f(y):\n        return y - k\n    return f\n"
    assert plan_of(HEAD + make + loop("k = i + 1.0; x[i] = make(k)(2.0)"))
    read = "def make():\n    def f(y):\n        return y - k\n    return f\n"
    assert "DLB313" in codes_of(HEAD + read + loop("k = i + 1.0; x[i] = make()(2.0)"))


def test_a_method_of_the_base_may_change_the_object() -> None:
    body = "ys[i] = m.g(i)"
    assert plan_of(HEAD + CLASSES.format("at") + "m = Child()\n" + loop(body))
    assert "DLB410" in codes_of(HEAD + CLASSES.format("add") + "m = Child()\n" + loop(body))


def test_a_loop_in_a_method_is_given_what_super_stands_for() -> None:
    text = CLASSES.format("at") + "    def run(this, ys, n):\n        {}\n        return ys\n"
    body = "# dlb: parallel\n        for i in range(n):\n            ys[i] = super().{}(i)"
    plan = plan_of(text.format(body.format("at")))
    assert {"__class__", "this"} <= {*plan.parameters}
    assert "DLB410" in codes_of(text.format(body.format("add")))
