# free: one unknown found, the right sides below are updated
n = 7
L = [[1.0 / (1 + i + j) for j in range(n)] for i in range(n)]
x = [1.0] * n
for j in range(n):
    x[j] = x[j] / L[j][j]
    # dlb: parallel
    for i in range(j + 1, n):
        x[i] = x[i] - L[i][j] * x[j]
print(x)
