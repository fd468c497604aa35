# races: the offset of the table meets the plain subscript
off = [0, 1, 2, 3, 4, 5]
a = [0.0] * 12
# dlb: parallel
for i in range(6):
    a[i] = a[off[i] + 1] + 1
print(a)
