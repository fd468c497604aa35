# races: a[2i + 1] and a[i] meet, as in 1 and 3
n = 24
a = list(range(n))
# dlb: parallel
for i in range(n // 2):
    a[2 * i + 1] = a[i] + 1
print(a)
