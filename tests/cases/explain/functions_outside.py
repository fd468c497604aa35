import library


def through(x):
    return library.refine(x)


def measure(A, B, n, m):
    # dlb: parallel
    for i in range(n):
        A[i] = library.measure(i) + through(B[i])
    # dlb: parallel
    for i in range(n):
        A[i] = A[i + m] + abs(B[i]) + library.measure(i)
