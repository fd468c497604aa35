def positive(A, n):
    # dlb: parallel
    for i in range(n):
        if A[i] < 0:
            A[i] = -A[i] * 2 + 1
