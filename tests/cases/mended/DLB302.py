def smoothed(f, size, n):
    # dlb: parallel
    for s in range(n):
        f[s * size : (s + 1) * size] = f[s * size] * 2
