def triangle(A, n):
    # dlb: parallel
    for i in range(n):
        for j in range(i, n):
            A[i, j] = i * j
