# expect: DLB302 9:17
def butterflies(a, n):
    half = 1
    while half < n:
        # dlb: parallel
        for k in range(0, n, half):
            for j in range(half):
                t = a[k + j + half]
                a[k + j], a[k + j + half] = a[k + j] + t, a[k + j] - t
        half *= 2
