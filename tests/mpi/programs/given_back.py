"""Changes in place through what functions and methods give back: an argument, a view of it, what holds it."""

import functools

import numpy as np

n = 7


def flipped(row):
    """The row itself where it is real."""
    same = row.conj()
    same[0] = -same[1]
    return same


def same_objects(counts, rows, squares):
    # dlb: parallel
    for i in range(n):
        r = np.round(counts[i])
        r += i
        s = np.int64(counts[i])
        s[1] = 7 * i
        np.float64(rows[i])[2] = i
        d = np.diff(rows[i], n=i % 2)
        d *= 2.0
        squares[i] = np.linalg.matrix_power(squares[i], 1 + i % 3)
        p = np.linalg.matrix_power(squares[i], i % 2)
        p -= 1.0
    return counts.tolist(), rows.tolist(), squares.tolist()


def views(rows, squares):
    # dlb: parallel
    for i in range(n):
        diagonal = np.einsum("ii->i", squares[i])
        diagonal += i
        x = np.array(rows[i], copy=None)
        x[0] = 3.5
        part, _ = rows[i].conj(), 0
        part[1] = i
    return rows.tolist(), squares.tolist()


def holders(edges, rows, counts):
    # dlb: parallel
    for i in range(n):
        found, bins = np.histogram(rows[i], edges[i])
        counts[i] = found.sum()
        bins += 1.0
        t = [rows[i]]
        t[0] += 2.0
        u = []
        u.append(edges[i])
        u[0] *= 3.0
        w = slice(edges[i], None)
        w.start[0] = i
    return edges.tolist(), rows.tolist(), counts.tolist()


def of_functions(rows, sums):
    # dlb: parallel
    for i in range(n):
        r = functools.reduce(lambda a, b: rows[i], [1, 2])
        r += 1.0
        for s in map(lambda k: sums[i], range(2)):  # noqa: C417
            s -= i
        flipped(rows[i])
        sums[i] = flipped(sums[i])
    return rows.tolist(), sums.tolist()


def places_for_results(squares, rows, sums):
    # dlb: parallel
    for i in range(n):
        squares[i].dot(rows[i], sums[i])
        squares[i].max(0, rows[i])
        np.nan_to_num(squares[i], False)
    # dlb: parallel
    for i in range(n):
        sums[i].round(1, rows[i])
        rows[i].clip(0.0, 30.0, sums[i])
        r = np.add(rows[i], 1.0, rows[i])
        r /= 4.0
        squares[i].cumsum(0, None, squares[i])
        sums[i, 0] = np.median(rows[i], overwrite_input=True)
    return squares.tolist(), rows.tolist(), sums.tolist()


def numbers(values, result):
    """Numbers are not changed in place: neighbours may be looked at."""
    # dlb: parallel
    for i in range(1, n):
        x = round(values[i - 1] * 2, 1)
        x += 1
        y = np.float64(values[i] * 0.5)
        t = [0.0] * 3
        t[i % 3] += values[i - 1]
        result[i] = x + y + sum(t)
    return result.tolist()


def table(*shape):
    return np.arange(1.0 * np.prod(shape)).reshape(shape) - 3.25


print(same_objects(np.arange(21).reshape(n, 3), table(n, 3), table(n, 3, 3)))
print(views(table(n, 3), table(n, 3, 3)))
print(holders(np.sort(table(n, 4)), table(n, 3), np.zeros(n)))
print(of_functions(table(n, 3), table(n, 3) * 2))
print(places_for_results(table(n, 3, 3), table(n, 3), np.zeros((n, 3))))
print(numbers(table(n), np.zeros(n)))
