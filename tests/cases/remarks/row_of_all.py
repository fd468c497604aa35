def eliminate(A, k, n):
    # dlb: parallel
    for i in range(k + 1, n):
        A[i] -= A[i, k] * A[k]
