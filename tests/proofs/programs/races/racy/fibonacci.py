# races: two before
n = 12
f = [1] * n
# dlb: parallel
for i in range(2, n):
    f[i] = f[i - 1] + f[i - 2]
print(f)
