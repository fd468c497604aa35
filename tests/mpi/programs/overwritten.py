"""Arrays that each iteration overwrites before it reads them, and others, of which old elements count."""

import numpy as np

n, m = 23, 4
A = np.random.default_rng(3).random((n, n)) + np.eye(n) * n
b = np.linspace(1.0, 2.0, n)


def jacobi(new, x):
    err = 0.0
    # dlb: parallel
    for i in range(n):
        new[i] = (b[i] - A[i] @ x + A[i, i] * x[i]) / A[i, i]
        err = max(err, abs(new[i] - x[i]))
    return err.hex(), new.tolist()


def rows_then_elements(v, inner):
    # dlb: parallel
    for i in range(n):
        v[i] = i
        for j in range(inner):
            v[i, j] += v[i, j - 1] * 0.5
        if i % 3 == 0:
            v[i, 0] = -1.0
    return v.tolist()


def some_rows(v, out):
    # dlb: parallel
    for i in range(n):
        if i % 4 != 1:
            v[i] = i
        out[i] = v[i].sum()
    return v.tolist(), out.tolist()


def parts_of_rows(v, out):
    # dlb: parallel
    for i in range(n):
        v[i, 1:-1] = i
        out[i] = v[i].sum()
    return v.tolist(), out.tolist()


def no_turns(v, out, inner):
    # dlb: parallel
    for i in range(n):
        for j in range(inner):
            v[i, j] = i
        out[i] = v[i].sum()
    return v.tolist(), out.tolist()


def left_early(v, out):
    # dlb: parallel
    for i in range(n):
        if i % 5 == 2:
            continue
        v[i] = i
        out[i] = v[i].sum()
    return v.tolist(), out.tolist()


def read_first(v, out):
    # dlb: parallel
    for i in range(n):
        out[i] = v[i].sum()
        v[i] = i
        out[i] += v[i, 0]
    return v.tolist(), out.tolist()


def items(xs, out):
    # dlb: parallel
    for i in range(n):
        xs[i] = [i, -i]
        out[i] = len(xs[i]) + xs[i][0]
    return xs, out.tolist()


def may_fail(i, fails, where):
    if (i, where) in fails:
        raise ValueError(where, i)
    return i


def failing(v, out, fails):
    i = 0
    try:
        # dlb: parallel
        for i in range(n):
            try:
                may_fail(i, fails, "caught")
            except ValueError:
                may_fail(i, fails, "handling")
                out[i] = -2.0
            may_fail(i, fails, "before")
            v[i] = (  # over several lines
                may_fail(i, fails, "storing")
                + sum(may_fail(i, fails, "within") for _ in range(1))
            )  # fmt: skip
            may_fail(i, fails, "after")
            out[i] = v[i].sum() + may_fail(i, fails, "reading")
    except ValueError as error:
        print(error.args, i)
    return v[: i + 1].tolist(), out[: i + 1].tolist()


def failing_on_a_line(v, out, fails):
    i = 0
    try:
        # dlb: parallel
        # fmt: off
        for i in range(n): v[i] = may_fail(i, fails, "storing"); out[i] = may_fail(i, fails, "after")  # noqa: E701, E702
        # fmt: on
    except ValueError as error:
        print(error.args, i)
    return v[: i + 1].tolist(), out[: i + 1].tolist()


def fresh():
    return np.full((n, m), 7.5)


print(jacobi(np.full(n, 3.25), np.zeros(n)))
for inner in (0, 1, m):
    print(rows_then_elements(fresh(), inner))
    print(no_turns(fresh(), np.full(n, 0.5), inner))
for function in (some_rows, parts_of_rows, left_early, read_first):
    print(function.__name__, function(fresh(), np.full(n, 0.5)))
print(items([None] * n, np.zeros(n)))
for where in ("before", "storing", "within", "after", "reading"):
    for k in (0, n // 2, n - 1):
        print(where, k, failing(fresh(), np.full(n, 0.5), {(k, where), (k, "caught")}))
        print(where, k, failing_on_a_line(fresh(), np.full(n, 0.5), {(k, where)}))
print(failing(fresh(), np.full(n, 0.5), {(n - 2, "caught"), (n - 2, "handling")}))
