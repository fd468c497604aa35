def eliminate(A, n):
    # dlb: iterate
    for k in range(n):
        # dlb: parallel, CYCLIC
        for i in range(k + 1, n):
            A[i] -= A[i, k] / A[k, k] * A[k]
