def halved(A, ix, n):
    # dlb: parallel, assume_independent
    for i in range(n):
        A[ix[i], 0] = A[ix[i], 1] / 2
