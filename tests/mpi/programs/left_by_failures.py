"""What temporaries hold after an exception that is caught: what the iterations up to the failing one left."""


def folded(n, fails):
    k, x, t = 0, None, "none"
    try:
        # dlb: parallel, fold
        for i in range(n):
            if i % 3 == 0:
                x = i
            t = i
            for j in range(i):
                k = j
            if i in fails:
                raise ValueError(i)
    except ValueError:
        pass
    return x, i, t, k


def before_it_is_set(n, fails):
    k, x, t = 0, None, "none"
    try:
        # dlb: parallel, nofold
        for i in range(n):
            if i in fails:
                raise ValueError(i)
            if i % 3 == 0:
                x = i
            t = i
            for j in range(i):
                k = j
    except ValueError:
        pass
    return x, i, t, k


def in_pairs_before_it_is_set(n, fails):
    x, t = None, "none"
    try:
        # dlb: parallel
        for i in range(n):
            if i in fails:
                raise ValueError(i)
            for j in range(i * 10):
                pass
            if i % 5 == 0:
                x = i
            t = i
    except ValueError:
        pass
    return x, i, t


def told_by_a_closure(n, fails, tellers):
    total, items = 0.5, []
    tellers.append(lambda: (total, items))
    # dlb: parallel
    for i in range(n):
        total += i * 0.1
        items.append(i)
        if i in fails:
            raise ValueError(i)
    return total


def caught_by_the_caller(n, fails):
    tellers = []
    try:
        told_by_a_closure(n, fails, tellers)
    except ValueError:
        pass
    return tellers[0]()


for n in (7, 8, 40, 41):
    for fails in ((3,), (2,), (0,), (n - 1,), (n // 2,), (n // 2 + 1,), (5, 6), (1, n - 2), ()):
        results = folded(n, fails), before_it_is_set(n, fails), in_pairs_before_it_is_set(n, fails)
        print(n, fails, *results, *caught_by_the_caller(n, fails))
