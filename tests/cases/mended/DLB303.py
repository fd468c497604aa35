def halves(A, n):
    # dlb: parallel
    for k in range(n):
        A[k, 0] = A[k, 1] + 2 * k + 1
