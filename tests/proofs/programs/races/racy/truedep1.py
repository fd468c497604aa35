# races: a[i + 1] is read by the next iteration
n = 12
a = list(range(n))
# dlb: parallel
for i in range(n - 1):
    a[i + 1] = a[i] + 1
print(a)
