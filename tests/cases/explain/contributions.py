def combine(X, bins, n):
    total = 0.0
    product = 1.0
    rough = 0.0
    low, where = 1e300, -1
    largest = -1.0
    count = [0] * 16
    sums = {}
    items = []
    # dlb: parallel, reduction(rough, order=any)
    for i in range(n):
        value = X[i] * 2
        total += value
        for part in X:
            product *= part
        rough += value
        largest = max(largest, value)
        count[bins[i]] += 1
        sums[bins[i]] = sums.get(bins[i], 0.0) + value
        items.append(value)
        if value < low:
            low, where = value, i
    return total, product, rough, low, where, largest, count, sums, items, value


def triangle(A, hist, rough, n):
    # dlb: parallel, reduction(hist), reduction(rough, order=any)
    for i in range(n):
        for j in range(i, n):
            A[i, j] = j
            hist[j % 8] += 1
            rough[j % 8] += A[i, j]
