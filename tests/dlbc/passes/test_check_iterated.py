"""Code that runs as a loop takes its items, and meets what the body does."""

from __future__ import annotations

import pytest

from tests.dlbc.passes.planning import codes_of

HEAD = """import numpy as np
log, xs, stack, seen, out, line = [], [1, 2, 3], [0, 3, 2], set(), [0.0] * 9, 0

def logged(rows):
    for row in rows:
        log.append(row)
        yield row

def fresh(rows):
    for row in rows:
        if row not in seen:
            yield row

def shown(rows):
    for row in rows:
        print(row)
        yield row

def pairs(n):
    for i in range(n):
        yield i, i + 1

def sized(rows):
    for i in range(len(rows)):
        yield i

def halved(rows):
    for i in range(len(rows)):
        rows[i] = rows[i] / 2
        yield i

def raised(rows):
    for i in range(len(rows)):
        rows[i] += 1
        yield rows[i]

def bumped(rows, i):
    rows[i] += 1
    return i

def square(x):
    return x * x

def noted(x):
    log.append(x)
    return x

class Model:
    def __init__(self, n):
        self.x, self.out, self.seen = np.zeros(n), [0.0] * n, 0

    def indices(self):
        for i in range(len(self.x)):
            yield i

    def counted(self):
        for i in range(len(self.x)):
            self.seen += 1
            yield i

    def run(self):
        # dlb: parallel
        for i in self.{method}():
            {body}

class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        while self.n:
            self.n -= 1
            log.append(self.n)
            yield self.n
"""


def codes(iterable: str, body: str, before: str = "") -> list[str]:
    head = HEAD.format(method="indices", body="self.x[i] = i * 2.0")
    return codes_of(f"{head}{before}\n# dlb: parallel\nfor v in {iterable}:\n    {body}\n")


@pytest.mark.parametrize(
    ("iterable", "body"),
    [
        ("logged(xs)", "log.append(-v)"),
        ("enumerate(logged(xs))", "out[v[0]] = len(log)"),
        ("fresh(xs)", "seen.add(v)"),
        ("shown(xs)", "print(v)"),
        ("halved(xs)", "out[v] = xs[v]"),
        ("map(noted, xs)", "log.append(v)"),
        ("(noted(x) for x in xs)", "log.append(v)"),
        ("iter(stack.pop, 0)", "log.append((v, len(stack)))"),
        ("Countdown(3)", "log.append(v)"),
        ("raised(xs)", "out[0 * v + v] = v + sum(xs)"),
        ("(log.append(x) for x in xs)", "out[v] = len(log)"),
        ("map(log.append, xs)", "out[v] = len(log)"),
        ("filter(lambda x: log.append(x) or True, xs)", "out[v] = len(log)"),
        ("(log.__setitem__(x, 1) for x in xs)", "out[v] = len(log)"),
        ("(bumped(xs, x) for x in (0, 1))", "out[v] = sum(xs)"),
        ("(sum(out) for x in xs)", "out[v] = 1.0"),
    ],
)
def test_what_runs_between_items_and_the_body_may_not_meet(iterable: str, body: str) -> None:
    assert "DLB427" in codes(iterable, body)
    assert "DLB427" in codes("items", body, f"items = {iterable}")


def test_functions_within_that_of_the_loop_and_other_names_count() -> None:
    inside = "def run(d, out):\n    def each():\n        for q in range(4):\n            d['n'] = q\n"
    inside += "            yield q\n    # dlb: parallel\n    for q in each():\n        out[q] = d['n']\n"
    assert "DLB427" in codes_of(inside)
    assert "DLB427" in codes("sized_sums(B)", "out[v] = v", "def sized_sums(b):\n    for k in range(3):\n"
                             "        yield int(b[k])\nB = out")  # fmt: skip


@pytest.mark.parametrize(
    ("iterable", "body"),
    [
        ("logged(xs)", "out[v] = 1.0"),
        ("list(logged(xs))", "log.append(v)"),
        ("fresh(xs)", "log.append(v)"),
        ("shown(xs)", "log.append(v)"),
        ("pairs(9)", "out[v[0]] = v[1]"),
        ("sized(out)", "out[v] = v * 2.0"),
        ("map(square, xs)", "log.append(v)"),
        ("zip(xs, pairs(3))", "log.append(v)"),
    ],
)
def test_a_generator_that_has_nothing_to_do_with_the_body_is_read_first(iterable: str, body: str) -> None:
    assert "DLB427" not in codes(iterable, body)


@pytest.mark.parametrize(
    ("method", "body", "refused"),
    [
        ("indices", "self.x[i] = i * 2.0", False),
        ("counted", "self.out[i] = float(i)", False),
        ("counted", "self.out[i] = self.seen", True),
        ("counted", "log.append(self)", True),
    ],
)
def test_of_objects_the_attributes_count(method: str, body: str, refused: bool) -> None:
    assert ("DLB427" in codes_of(HEAD.format(method=method, body=body))) == refused


def test_a_variable_of_the_function_is_not_the_global_one_that_a_generator_changes() -> None:
    use = "def use(rows, log):\n    # dlb: parallel\n    for row in logged(rows):\n        log.append(row)\n"
    assert "DLB427" not in codes_of(HEAD.format(method="indices", body="self.x[i] = i * 2.0") + use)
