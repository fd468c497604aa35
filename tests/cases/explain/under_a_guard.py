def shift(A, n, m):
    # dlb: parallel
    for i in range(n):
        A[i] = A[i + m] * 2
