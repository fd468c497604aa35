def product(Z, X, Y, n, m, r):
    # dlb: parallel, jit
    for i in range(n):
        for j in range(m):
            for k in range(r):
                Z[i, j] += X[i, k] * Y[k, j]
