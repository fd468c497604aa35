# free: the sum begins in the iteration
n = 6
a = [[float(i + j) for j in range(n)] for i in range(n)]
v = [1.0] * n
out = [0.0] * n
# dlb: parallel
for i in range(n):
    s = 0.0
    for j in range(n):
        s += a[i][j] * v[j]
    out[i] = s
print(out)
