# expect: DLB302 5:9
def smoothed(f, size, n):
    # dlb: parallel
    for s in range(n):
        f[s * size : (s + 1) * size + 1] = f[s * size] * 2
