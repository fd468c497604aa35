"""Routines whose loops reduce, count, append, print, leave temporaries; that is used between passes."""

import numpy as np

n, m = 26, 3
rng = np.random.default_rng(11)
X = rng.normal(size=(n, m)) * 10.0 ** rng.integers(-5, 5, size=(n, 1))


def reductions(u):
    total, low = 0.0, np.inf
    # dlb: iterate
    for t in range(4):
        worst = 0.0
        # dlb: parallel
        for i in range(n):
            u[i] = u[i] * 0.75 + X[i]
            total += u[i, 0]
            low = min(low, u[i].min())
            worst = max(worst, abs(u[i]).max())
        print(total.hex(), float(low).hex(), float(worst).hex())
        u /= worst
        if total > 1e3:
            total = float(u[0, 0])
    return u


def histograms(u):
    hist, sums = np.zeros(5, int), np.zeros((5, m))
    # dlb: iterate
    for t in range(4):
        # dlb: parallel
        for i in range(n):
            k = int(abs(u[i, 0]) * 10) % 5
            hist[k] += 1
            sums[k] += u[i]
            u[i] += 0.125 * k
        print(hist.tolist(), [float(x).hex() for x in sums[:, 1]])
        hist[t] = 0
        sums *= 0.5
        u[hist.argmax()] = sums[1]


def containers(u):
    found, marks, names = [], {}, set()
    # dlb: iterate
    for t in range(3):
        # dlb: parallel
        for i in range(n):
            u[i] += 1.0
            if (i + t) % 7 == 0:
                found.append((t, i, float(u[i, 2])))
                marks[i] = t
                names.add(f"n{i}")
                print("pass", t, "row", i, u[i].tolist())
        print(len(found), sorted(names), marks)
        if t == 1:
            found.clear()
            u[marks.popitem()[0]] = 0.0
    print(found)


def temporaries(u, v):
    # dlb: iterate
    for t in range(3):
        # dlb: parallel
        for i in range(n):
            row = u[i]
            double = row * 2.0
            if i % 5 == 0:
                last = double.sum()
            v[i] = double - t
        print(i, float(last).hex(), row.tolist(), double.tolist())
        row[0] += 1.0
        u, v = v, u
        print(row.tolist(), float(u[i - 1, 0]).hex())
    else:
        print("else", t)


def random_rows(u):
    seeds = np.random.SeedSequence(5)
    # dlb: iterate
    for t in range(3):
        streams = seeds.spawn(n)
        # dlb: parallel
        for i in range(n):
            u[i] += np.random.default_rng(streams[i]).random(m)
        print(float(np.random.default_rng(t).random()).hex(), float(u.sum()).hex())


def clusters(points, k):
    """Lloyd's algorithm: who belongs where is found in parallel, the centres between."""
    centres = points[:k].copy()
    label = np.full(len(points), -1)
    # dlb: iterate
    for t in range(20):
        changed = 0
        # dlb: parallel, WHOLE(centres)
        for i in range(len(points)):
            nearest = int(((centres - points[i]) ** 2).sum(axis=1).argmin())
            changed += nearest != label[i]
            label[i] = nearest
        if not changed:
            break
        for c in range(k):
            if (label == c).any():
                centres[c] = points[label == c].mean(axis=0)
    print(t, label.tolist(), [float(x).hex() for x in centres.ravel()])


reductions(np.ones((n, m)))
u = X.copy()
histograms(u)
print(float(u.sum()).hex())
containers(u)
temporaries(u, np.zeros((n, m)))
random_rows(u)
print([float(x).hex() for x in u[::6, 1]])
clusters(np.random.default_rng(2).random((40, 2)), 4)
