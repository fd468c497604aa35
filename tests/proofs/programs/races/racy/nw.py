# races: the wavefront of sequence alignment, by rows
n = 8
a, b = "GATTACAG", "GCATGCUA"
F = [[-i - j if i * j == 0 else 0 for j in range(n + 1)] for i in range(n + 1)]
# dlb: parallel
for i in range(1, n + 1):
    for j in range(1, n + 1):
        same = 1 if a[i - 1] == b[j - 1] else -1
        F[i][j] = max(F[i - 1][j - 1] + same, F[i - 1][j] - 1, F[i][j - 1] - 1)
print(F[n][n])
