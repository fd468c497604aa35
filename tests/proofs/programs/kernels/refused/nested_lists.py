# Rows of a list of lists: row i reads row i - 1.
n = 7
T = [list(range(n)) for _ in range(n)]
# dlb: parallel
for i in range(1, n):
    for j in range(n):
        T[i][j] = T[i - 1][j] + 1
print(T[-1])
