def named(A, n):
    # dlb: parallel, jit
    for i in range(n):
        A[i] = str(i)
