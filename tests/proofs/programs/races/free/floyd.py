# free: one step with copies of its row
n = 6
d = [[(i * 7 + j * 3) % 11 for j in range(n)] for i in range(n)]
for k in range(n):
    row = d[k][:]
    # dlb: parallel
    for i in range(n):
        for j in range(n):
            d[i][j] = min(d[i][j], d[i][k] + row[j])
print(d)
