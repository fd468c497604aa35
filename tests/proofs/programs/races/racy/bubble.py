# races: neighbours are swapped where pairs overlap
n = 9
a = [7, 3, 8, 1, 9, 2, 6, 5, 4]
# dlb: parallel
for i in range(n - 1):
    if a[i] > a[i + 1]:
        t = a[i]
        a[i] = a[i + 1]
        a[i + 1] = t
print(a)
