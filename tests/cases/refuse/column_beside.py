# expect: DLB302 6:13
def shifted(A, n, m):
    # dlb: parallel
    for j in range(m - 1):
        for i in range(n):
            A[i * m + j] = A[i * m + j + 1]
