import numpy as np


def survey(A, bins, n, m):
    total, pairs, found, best, where = 0.0, 0, [], -1.0, None
    histogram = [0] * 10
    # dlb: parallel, jit
    for i in range(n):
        peak = A[i, 0]
        for j in range(1, m):
            peak = max(peak, A[i, j])
            if A[i, j] > 0.5:
                pairs += 1
        total += peak
        histogram[bins[i]] += 1
        if peak > best:
            best, where = peak, i
        if peak > 0.9:
            found.append((i, peak * 2))
            print(f"{i}: {peak:.3f}")
    return total, pairs, found, best, where, histogram, peak


print(survey(np.ones((4, 3)), np.arange(4), 4, 3))
