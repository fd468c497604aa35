def scaled(A, n):
    # dlb: parallel
    for i in range(n):
        A[i] = 2 * A[i]
