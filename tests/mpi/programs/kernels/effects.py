"""Kernels as they are emitted, against the loops that they stand for: results, output, exceptions.

Each case is a loop, run sequentially and by its kernel in the same process; what is left must be alike to
the bit, in type and in order. Each argument is a number of
iterations and the position that fails (-1: none).
"""

import contextlib
import io
import struct
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from fractions import Fraction

import dlbrt
import numpy as np
from dlbrt import BLOCK, CYCLIC, ELEMENTS, REDUCE, SELECT
from mpi4py import MPI

dlb = dlbrt.start(MPI.COMM_WORLD)


class Stop(Exception):
    pass


def check(i, fail):
    if i == fail:
        raise Stop(i)


def value(i):
    return [0.1 * i, -0.0, 1e16, -1e16 + i, 3.3][i % 5]


def exact(value):
    """A value down to its type and bits."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, float):
        return type(value).__name__, struct.pack("d", value)
    if isinstance(value, dict):
        return type(value).__name__, [(exact(k), exact(v)) for k, v in value.items()]
    if isinstance(value, list | tuple | deque):
        return type(value).__name__, [exact(v) for v in value]
    if isinstance(value, set):
        return type(value).__name__, sorted(map(repr, value))
    return type(value).__name__, repr(value)


# --- names: sums, text, lists, arrays, extremes, booleans


def names_kernel(dlb, n, fail, deal, s, t, text, frac, items, acc, big, low, last, every, some):
    dlb.arrays(deal)
    dlb.reductions(
        s=REDUCE("+"),
        t=REDUCE("+"),
        text=REDUCE("+"),
        frac=REDUCE("+"),
        items=REDUCE("+"),
        acc=REDUCE("+"),
        big=REDUCE("max"),
        low=REDUCE("min"),
        last=REDUCE("max"),
        every=REDUCE("and"),
        some=REDUCE("or"),
    )
    dlb.scatter()
    while dlb.more_work:
        s, t, text, frac, items, acc, big, low, last, every, some = dlb.accumulators(
            s, t, text, frac, items, acc, big, low, last, every, some
        )
        for i in dlb.iterations():
            s += value(i)
            t = np.float64(value(i)) + t
            text = text + str(i)
            frac -= -Fraction(1, i + 1)
            items += [i, str(i)]
            acc += np.arange(4.0) * value(i)
            check(i, fail)
            big = max(big, [i % 7, float(i % 7), True][i % 3])
            low = min(low, -value(i))
            last = max([float(i % 5), i % 5][i % 2], last)
            every = every and (i < 9 or [])
            some = some or (i > 5 and i)
        dlb.reduce(s, t, text, frac, items, acc, big, low, last, every, some)
        dlb.synchronize()
    dlb.gather()


def names(deal, n, fail):
    s, t, text, frac, items, acc = 0.25, np.float64(-0.0), "from ", Fraction(1, 3), ["a"], np.ones(4)
    big, low, last, every, some = -1, 1.0, 0, True, 0
    same = items, acc
    try:
        if deal is None:
            for i in range(n):
                s += value(i)
                t = np.float64(value(i)) + t
                text = text + str(i)
                frac -= -Fraction(1, i + 1)
                items += [i, str(i)]
                acc += np.arange(4.0) * value(i)
                check(i, fail)
                big = max(big, [i % 7, float(i % 7), True][i % 3])
                low = min(low, -value(i))
                last = max([float(i % 5), i % 5][i % 2], last)
                every = every and (i < 9 or [])
                some = some or (i > 5 and i)
        else:
            result = dlb.result_of(
                names_kernel,
                range(n),
                n,
                fail,
                deal,
                s,
                t,
                text,
                frac,
                items,
                acc,
                big,
                low,
                last,
                every,
                some,
            )
            assert ("s" in result) == (n > 0)
            if n:
                s, t, text, frac = result["s"], result["t"], result["text"], result["frac"]
                items, acc, big, low, last = (result[k] for k in ("items", "acc", "big", "low", "last"))
                every, some = result["every"], result["some"]
            result.check()
    except Stop as error:
        yield error.args
    yield items is same[0], acc is same[1]
    yield s, t, text, frac, items, acc, big, low, last, every, some


# --- several updates of an iteration: the same on one rank and on many


def folds_kernel(dlb, n, fail, deal, s, p, text):
    dlb.arrays(deal)
    dlb.reductions(s=REDUCE("+", several=True), p=REDUCE("*", several=True), text=REDUCE("+", several=True))
    dlb.scatter()
    while dlb.more_work:
        s, p, text = dlb.accumulators(s, p, text)
        for i in dlb.iterations():
            s, p, text = dlb.accumulate(s, p, text)
            for k in range(i % 4):
                s += value(i + k)
                text = str(k) + text
                check(i * 10 + k, fail * 10 + 2)
            if i % 3:
                p = p * 1.000001
                p *= 1.0001
        dlb.reduce(s, p, text)
        dlb.synchronize()
    dlb.gather()


def folds(deal, n, fail):
    s, p, text = 0.1, 1.0, "."
    try:
        if deal is None:
            for i in range(n):
                share, product, front = None, None, ""
                try:
                    for k in range(i % 4):
                        share = value(i + k) if share is None else share + value(i + k)
                        front = str(k) + front
                        check(i * 10 + k, fail * 10 + 2)
                    if i % 3:
                        product = 1.000001
                        product *= 1.0001
                finally:
                    s = s if share is None else s + share
                    p = p if product is None else p * product
                    text = front + text
        else:
            result = dlb.result_of(folds_kernel, range(n), n, fail, deal, s, p, text)
            if n:
                s, p, text = result["s"], result["p"], result["text"]
            result.check()
    except Stop as error:
        yield error.args
    yield s, p, text


# --- selections


def selections_kernel(dlb, n, fail, deal, best, where, what, worst, at):
    dlb.arrays(deal)
    dlb.reductions(best=SELECT("<", "where", "what"), worst=SELECT(">=", "at"))
    dlb.scatter()
    while dlb.more_work:
        best, worst = dlb.accumulators(best, worst)
        where = dlb.unset
        what = dlb.unset
        at = dlb.unset
        for i in dlb.iterations():
            new = float("nan") if i % 11 == 0 else float((i * 7) % 13)
            if new < best:
                best = new
                where = i
                what = [i, new]
            check(i, fail)
            if i % 5 >= worst:
                worst, at = i % 5, i
        dlb.reduce(best, where, what, worst, at)
        dlb.synchronize()
    dlb.gather()


def selections(deal, n, fail):
    best, where, what, worst, at = 12.5, None, None, 1, -1
    try:
        if deal is None:
            for i in range(n):
                new = float("nan") if i % 11 == 0 else float((i * 7) % 13)
                if new < best:
                    best = new
                    where = i
                    what = [i, new]
                check(i, fail)
                if i % 5 >= worst:
                    worst, at = i % 5, i
        else:
            result = dlb.result_of(selections_kernel, range(n), n, fail, deal, best, where, what, worst, at)
            best = result["best"] if "best" in result else best
            where = result["where"] if "where" in result else where
            what = result["what"] if "what" in result else what
            worst = result["worst"] if "worst" in result else worst
            at = result["at"] if "at" in result else at
            result.check()
    except Stop as error:
        yield error.args
    yield best, where, what, worst, at


# --- elements


def update(i, fail, hist, weights, lows, counts, counter, groups, sums, plain, image):
    k = (i * i) % 7
    hist[k] += 1
    weights[k] += value(i)
    lows[k] = min(lows[k], value(i))
    counts[f"k{k}"] = counts.get(f"k{k}", 0) + i
    counter[i % 9] += 2
    groups[k] += [i]
    check(i, fail)
    sums[k] += np.full(3, value(i))
    plain[-1 - k] += i
    image[k % 3, k % 2] ^= i
    np.add.at(weights, [0, 0, k], value(i))


def elements_kernel(dlb, n, fail, deal, hist, weights, lows, counts, counter, groups, sums, plain, image):
    dlb.arrays(deal)
    dlb.reductions(
        hist=ELEMENTS("+", integer=True),
        weights=ELEMENTS("+"),
        lows=ELEMENTS("min"),
        counts=ELEMENTS("+", integer=True),
        counter=ELEMENTS("+", integer=True),
        groups=ELEMENTS("+"),
        sums=ELEMENTS("+"),
        plain=ELEMENTS("+", integer=True),
        image=ELEMENTS("^", integer=True),
    )
    dlb.scatter()
    while dlb.more_work:
        hist, weights, lows, counts, counter, groups, sums, plain, image = dlb.accumulators(
            hist, weights, lows, counts, counter, groups, sums, plain, image
        )
        for i in dlb.iterations():
            update(i, fail, hist, weights, lows, counts, counter, groups, sums, plain, image)
        dlb.synchronize()
    dlb.gather()


def elements(deal, n, fail):
    parts = (
        np.ones(7, np.int32), np.full(7, 0.1), [1e9] * 7, {"k9": 4}, Counter({5: 1}), defaultdict(list),
        np.zeros((7, 3)), [3] * 8, np.full((3, 2), 5, order="F"),
    )  # fmt: skip
    try:
        if deal is None:
            for i in range(n):
                update(i, fail, *parts)
        else:
            dlb.run(elements_kernel, range(n), n, fail, deal, *parts)
    except Stop as error:
        yield error.args
    yield parts


# --- a key that is missing is met at its iteration, wherever that ran


def missing_kernel(dlb, n, deal, counts, items):
    dlb.arrays(deal)
    dlb.reductions(counts=ELEMENTS("+", integer=True))
    dlb.ordered("items")
    dlb.scatter()
    while dlb.more_work:
        counts, items = dlb.accumulators(counts, items)
        for i in dlb.iterations():
            items.append(i)
            counts[(i * 3) % 10] += i
            items.append(-i)
        dlb.synchronize()
    dlb.gather()


def missing(deal, n, fail):
    counts, items = dict.fromkeys((0, 1, 2, 3, 5, 6, 8, 9), 0), []
    try:
        if deal is None:
            for i in range(n):
                items.append(i)
                counts[(i * 3) % 10] += i
                items.append(-i)
        else:
            result = dlb.result_of(missing_kernel, range(n), n, deal, counts, items)
            result.check()
    except KeyError as error:
        yield "KeyError", error.args
    yield counts, items


# --- ordered containers and output

SHARED = object()


def add(i, fail, items, table, found, queue):
    row = [i]
    items.append(row)
    row.append("later")
    items.extend(x for x in (i, -i))
    table[i % 8] = row
    found.add(i % 6)
    if i % 2:
        queue.appendleft(SHARED)
        print("odd", i, end=" ")
        print(value(i))
    check(i, fail)
    queue.append(i)
    sys.stdout.write(f"{i}\n")
    sys.stdout.writelines(["a", "b\n"])
    found |= {-i % 4}


def ordered_kernel(dlb, n, fail, deal, items, table, found, queue):
    dlb.arrays(deal)
    dlb.ordered("items", "table", "found", "queue")
    dlb.scatter()
    while dlb.more_work:
        items, table, found, queue = dlb.accumulators(items, table, found, queue)
        for i in dlb.iterations():
            add(i, fail, items, table, found, queue)
        dlb.synchronize()
    dlb.gather()


def ordered(deal, n, fail):
    items, table, found, queue = ["first"], OrderedDict(a=0), {99}, deque(maxlen=20)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            if deal is None:
                for i in range(n):
                    add(i, fail, items, table, found, queue)
            else:
                dlb.run(ordered_kernel, range(n), n, fail, deal, items, table, found, queue)
        except Stop as error:
            yield error.args
    yield items, table, found, [x is SHARED or x for x in queue], out.getvalue()
    yield [table[k] is row for k in table for row in items if isinstance(row, list) and row == table[k]]


# --- output alone, and loops whose values cannot be shared


def output_kernel(dlb, n, fail, deal, A):
    dlb.arrays(deal, A=BLOCK(0, "w"))
    dlb.scatter()
    while dlb.more_work:
        for i in dlb.iterations():
            A[i] = i
            if i % 4 != 1:
                print(i, value(i))
            check(i, fail)
        dlb.synchronize()
    dlb.gather()


def output(deal, n, fail):
    A, out = [None] * n, io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            if deal is None:
                for i in range(n):
                    A[i] = i
                    if i % 4 != 1:
                        print(i, value(i))
                    check(i, fail)
            else:
                dlb.run(output_kernel, range(n), n, fail, BLOCK, A)
        except Stop as error:
            yield error.args
    yield out.getvalue()


def aliased_kernel(dlb, n, deal, total, other):
    dlb.require(lambda: n >= 0, "n >= 0")
    dlb.arrays(deal)
    dlb.reductions(total=REDUCE("+"))
    dlb.scatter()
    while dlb.more_work:
        total = dlb.accumulators(total)
        for i in dlb.iterations():
            total += other[0] + i
        dlb.reduce(total)
        dlb.synchronize()
    dlb.gather()


def aliased(deal, n, fail):
    total = np.ones(3)
    other = total[1:]
    if deal is None:
        for i in range(n):
            total += other[0] + i
    else:
        result = dlb.result_of(aliased_kernel, range(n), n, deal, total, other)
        result.check()
    yield total


CASES = (names, folds, selections, elements, missing, ordered, output, aliased)


def compare(case, n, fail):
    expected = [exact(part) for part in case(None, n, fail)]
    for deal in (BLOCK, CYCLIC):
        for turn in range(2):  # the second time it may be begun by rank 0 alone
            found = [exact(part) for part in case(deal, n, fail)]
            if found != expected:
                print(case.__name__, n, fail, deal.distribution, turn, expected, found, sep="\n")


for size in sys.argv[1:]:
    for case in CASES:
        compare(case, *map(int, size.split(",")))
print("done")
