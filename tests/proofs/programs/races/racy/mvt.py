# races: the second product reads what the first one stores
n = 6
A = [[float(i * j) for j in range(n)] for i in range(n)]
x = [1.0] * n
# dlb: parallel
for i in range(n):
    for j in range(n):
        x[i] = x[i] + A[i][j] * x[j]
print(x)
