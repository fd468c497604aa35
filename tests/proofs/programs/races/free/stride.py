# free: steps of two, reaching three ahead
n = 16
a = list(range(n))
# dlb: parallel
for i in range(0, n - 3, 2):
    a[i] = a[i + 3]
print(a)
