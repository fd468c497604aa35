# free: offsets lead to another list
off = [0, 1, 2, 3, 4, 5]
a = [0.0] * 12
b = [1.0] * 12
# dlb: parallel
for i in range(6):
    a[i] = b[off[i] + 1] + 1
print(a)
