# free: x is set before it is read
n = 12
a = [0] * n
# dlb: parallel
for i in range(n):
    x = i
    a[i] = x
print(a, x)
