def product(Z, X, Y, n):
    # dlb: parallel
    for i in range(n):
        Z[i] = X[i] @ Y
