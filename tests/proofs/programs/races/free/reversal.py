# free: half of it
n = 9
a = list(range(n))
# dlb: parallel
for i in range(n // 2):
    t = a[i]
    a[i] = a[n - 1 - i]
    a[n - 1 - i] = t
print(a)
