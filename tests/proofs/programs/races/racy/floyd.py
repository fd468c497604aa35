# races: rows of this step are read by the next one
n = 6
d = [[(i * 7 + j * 3) % 11 for j in range(n)] for i in range(n)]
# dlb: parallel
for k in range(n):
    for i in range(n):
        for j in range(n):
            d[i][j] = min(d[i][j], d[i][k] + d[k][j])
print(d)
