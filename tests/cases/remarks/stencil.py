def smooth(u, v, n):
    # dlb: parallel
    for i in range(1, n - 1):
        v[i] = (u[i - 1] + u[i + 1]) / 2
