# races: the target begins before the source ends
n = 8
a = list(range(20))
# dlb: parallel
for i in range(n):
    a[i + 5] = a[i]
print(a)
