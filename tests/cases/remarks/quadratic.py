def pyramid(A, n):
    # dlb: parallel
    for i in range(n):
        for j in range(i):
            for k in range(i):
                A[i, 0] += j * k
