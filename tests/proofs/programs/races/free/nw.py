# free: scores of all pairs of letters
n = 8
a, b = "GATTACAG", "GCATGCUA"
S = [[0] * n for i in range(n)]
# dlb: parallel
for i in range(n):
    for j in range(n):
        S[i][j] = 1 if a[i] == b[j] else -1
print(S)
