# races: an unknown needs all unknowns before it
n = 7
L = [[1.0 / (1 + i + j) for j in range(n)] for i in range(n)]
x = [1.0] * n
# dlb: parallel
for i in range(n):
    for j in range(i):
        x[i] = x[i] - L[i][j] * x[j]
    x[i] = x[i] / L[i][i]
print(x)
