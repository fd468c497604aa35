"""The same loops again and again, while what they get changes: what held of a run may not hold later."""

import numpy as np

scale = 1.0
rng = np.random.default_rng(5)


def weigh(k):
    return k * scale


def smooth(a, b, n, factor, best):
    # dlb: parallel
    for i in range(1, n - 1):
        b[i] = factor * (a[i - 1] + a[i + 1]) + weigh(i)
        best = max(best, b[i])
    return best


def shown(*arrays):
    print(*(np.ascontiguousarray(each).tobytes().hex() for each in arrays))


def run(a, b, n, factor, best=0.0):
    try:
        print(repr(smooth(a, b, n, factor, best)))
    except Exception as error:
        print(type(error).__name__, error)
    shown(a, b)


x, y = rng.random(24), np.zeros(24)
for _ in range(4):
    run(x, y, 24, 0.5)  # as before
    x, y = y, x
run(x, y, 24, -0.0)
run(x, y, 24, 0.0)
run(x, y, 20, 0.5)
run(x, y, 2, 0.5)
run(x, y, 24, 0.5, best=float("nan"))
run(x, y, 24, 0.5, best=7)
run(x, y, 24, 0.5, best=np.float64(0.25))
scale = 2.0
run(x, y, 24, 0.5)
scale = 2
run(x, y, 24, 0.5)
for _ in range(3):
    run(x.copy(), y.copy(), 24, 0.5)  # memory that may have been another array's
wide = rng.random(60)
for _ in range(3):
    run(wide[0:24], wide[30:54], 24, 0.5)
    run(wide[0:24], wide[20:44], 24, 0.5)  # they overlap now
    run(wide[::2], wide[1::2], 24, 0.5)
    run(wide[0:24], wide[30:54], 24, 0.5)
run(x, x, 24, 0.5)  # one array under two names
run(x, y, 24, 0.5)
y.flags.writeable = False
run(x, y, 24, 0.5)
y.flags.writeable = True
run(x, y, 24, 0.5)
run(x.astype(np.float32), y, 24, 0.5)
run(x.view(np.int64) >> 40, y, 24, 0.5)
run(x.reshape(2, 12)[0], y, 12, 0.5)
run(x, y, 24, np.float32(0.5))
run(list(x), y, 24, 0.5)
run(x, y, 26, 0.5)  # beyond the end
run(x, y, 24, 0.5)


def relaxed(u, w, sweeps, late):
    n = len(u)
    # dlb: iterate
    for sweep in range(sweeps):
        # dlb: parallel
        for i in range(1, n - 1):
            w[i] = 0.5 * (u[i - 1] + u[i + 1])
        # dlb: parallel
        for i in range(1, n - 1):
            u[i] = w[i] + weigh(sweep)
        if sweep == late:
            u[3] = 9.0
        elif sweep == late + 1:
            w = w.copy()
        elif sweep == late + 2:
            u, w = w, u
        elif sweep == late + 3:
            u.flags.writeable = False
            u.flags.writeable = True
        elif sweep == late + 4:
            u.resize(n, refcheck=True)
    return u, w


shown(*relaxed(rng.random(40), np.zeros(40), 16, 6))
