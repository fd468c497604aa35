def turns(A, n):
    # dlb: parallel
    for i in range(n):
        while A[i] > 1.0:
            A[i] = A[i] / 2
