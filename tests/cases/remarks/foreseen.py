def relax(u, v, steps, n):
    # dlb: iterate
    for t in range(steps):
        # dlb: parallel, jit
        for i in range(1, n - 1):
            v[i] = (u[i - 1] + u[i + 1]) / 2
        u, v = v, u
