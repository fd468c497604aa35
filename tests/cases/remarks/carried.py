def sums(A, n):
    # dlb: parallel
    for i in range(1, n):
        A[i] = A[i] + A[i - 1]
