# free: each iteration changes its element
n = 12
a = list(range(n))
# dlb: parallel
for i in range(n):
    a[i] = a[i] + 1
print(a)
