def moved(A, n, m):
    # dlb: parallel
    for i in range(n):
        A[i] = A[i + m]
