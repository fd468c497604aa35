# races: steps of two, reaching two ahead
n = 16
a = list(range(n))
# dlb: parallel
for i in range(0, n - 2, 2):
    a[i] = a[i + 2]
print(a)
