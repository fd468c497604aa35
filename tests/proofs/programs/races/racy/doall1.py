# races: the element written is that of half the number
n = 12
a = list(range(n))
# dlb: parallel
for i in range(n):
    a[i // 2] = a[i] + 1
print(a)
