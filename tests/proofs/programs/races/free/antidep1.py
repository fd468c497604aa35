# free: what is read is a copy
n = 16
a = list(range(n))
old = a[:]
# dlb: parallel
for i in range(n - 1):
    a[i] = old[i + 1] + 1
print(a)
