# free: odd ones from even ones
n = 24
a = list(range(n))
# dlb: parallel
for i in range(n // 2):
    a[2 * i + 1] = a[2 * i] + 1
print(a)
