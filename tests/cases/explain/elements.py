def mirror(A, n):
    # dlb: parallel
    for i in range(n):
        for j in range(i):
            A[i, j] = A[j, i]


def quarters(A, n):
    # dlb: parallel
    for i in range(0, n, 2):
        A[i // 2] = i
