import numpy as np


def relaxed(A, b, x, new, old, part, parts, n, m):
    worst = 0.0
    # dlb: parallel
    for i in range(n):
        new[i] = b[i] - A[i] @ x
        parts[i] = 0.0
        for j in range(m):
            parts[i, j] += new[i] * j
        if new[i] > 0:
            part[i] = new[i]  # not in each iteration
        old[i, :-1] = part[i]  # not the whole row
        worst = max(worst, abs(new[i] - x[i]))
    try:
        # dlb: parallel
        for i in range(n):
            worst += new[i]
            b[i] += 1.0  # what it was is read
            x[i] = b[i]
            b[i] = x[i]
    except FloatingPointError:
        pass
    return worst


n = 5
arrays = [np.full((n, 3), 7.0) for _ in range(2)]
print(relaxed(np.eye(n), np.ones(n), np.ones(n), np.zeros(n), arrays[0], np.zeros(n), arrays[1], n, 3))
