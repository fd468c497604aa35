# races: the whole list is turned twice
n = 9
a = list(range(n))
# dlb: parallel
for i in range(n):
    t = a[i]
    a[i] = a[n - 1 - i]
    a[n - 1 - i] = t
print(a)
