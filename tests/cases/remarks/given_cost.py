def summed(A, n):
    # dlb: parallel, cost(n - i), profile
    for i in range(n):
        A[i] = sum(range(i, n))
