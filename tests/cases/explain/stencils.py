def smooth(A, B, n, k):
    # dlb: parallel
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            B[i, j] = (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1]) / 4


def eliminate(A, n):
    for k in range(n - 1):
        # dlb: parallel
        for i in range(k + 1, n):
            A[i, k + 1 :] = A[i, k + 1 :] - A[i, k] / A[k, k] * A[k, k + 1 :]


def wide(A, B, n):
    # dlb: parallel
    for i in range(2, n - 3):
        B[i] = A[i - 2] + A[i + 3]


def pairwise(A, n):
    # dlb: parallel
    for i in range(n):
        A[2 * i] = A[2 * i + 1] + 1
