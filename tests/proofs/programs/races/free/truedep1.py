# free: the value read stands in another list
n = 12
a = list(range(n))
b = [2 * k for k in range(n)]
# dlb: parallel
for i in range(n - 1):
    a[i + 1] = b[i] + 1
print(a)
