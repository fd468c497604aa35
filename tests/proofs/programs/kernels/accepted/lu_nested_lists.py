# The same of a list of lists.
n = 7
A = [[float(n if i == j else 1 + (i * j) % 3) for j in range(n)] for i in range(n)]
for k in range(n - 1):
    # dlb: parallel
    for i in range(k + 1, n):
        A[i][k] = A[i][k] / A[k][k]
        for j in range(k + 1, n):
            A[i][j] = A[i][j] - A[i][k] * A[k][j]
print(A)
