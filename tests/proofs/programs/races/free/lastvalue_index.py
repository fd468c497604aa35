# free: the place is computed first
n = 8
a = [0] * (n + 1)
# dlb: parallel
for i in range(n):
    p = i + 1
    a[p] = i
print(a, p)
