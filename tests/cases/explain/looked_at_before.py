def scatter(A, ix, n):
    # dlb: parallel
    for i in range(n):
        A[ix[i], 0] = i
        A[ix[i], 1] = A[ix[i], 0] * 2.0


def rows_of_a_sparse_matrix(value, column, start, x, y, n):
    # dlb: parallel
    for i in range(n):
        y[i] = sum(value[p] * x[column[p]] for p in range(start[i], start[i + 1]))
        print(y[i])
