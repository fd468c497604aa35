# free: the indices are all different, and one is read through them
ix = [5, 3, 7, 4, 0, 1, 6, 2]
x = [0.5 * k for k in range(8)]
a = [0.0] * 8
# dlb: parallel
for i in range(8):
    a[i] = x[ix[i]] * 2 + i
print(a)
