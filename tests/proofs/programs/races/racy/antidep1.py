# races: a[i + 1] is read by the iteration before the one that overwrites it
n = 16
a = list(range(n))
# dlb: parallel
for i in range(n - 1):
    a[i] = a[i + 1] + 1
print(a)
