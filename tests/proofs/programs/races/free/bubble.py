# free: pairs that do not overlap, as in odd-even transposition
n = 9
a = [7, 3, 8, 1, 9, 2, 6, 5, 4]
for phase in range(n):
    # dlb: parallel
    for i in range(phase % 2, n - 1, 2):
        if a[i] > a[i + 1]:
            t = a[i]
            a[i] = a[i + 1]
            a[i + 1] = t
print(a)
