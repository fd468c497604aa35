def f(A, n):
    # dlb: parallel
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] += k
    # dlb: parallel, cost((n - i)**3)
    for i in range(n):
        A[i, 0] = i
