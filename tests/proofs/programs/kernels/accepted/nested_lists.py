# A[i][j] is A[i, j].
n, m = 8, 6
A = [[i * j for j in range(m)] for i in range(n)]
B = [[0] * m for _ in range(n)]
# dlb: parallel
for i in range(n):
    for j in range(m):
        B[i][j] = A[i][m - 1 - j] + 1
print(B)
