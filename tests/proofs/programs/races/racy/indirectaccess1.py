# races: an index stands in the table twice
ix = [5, 3, 7, 3, 0, 1, 6, 2]
a = [0.0] * 8
# dlb: parallel
for i in range(8):
    a[ix[i]] = a[ix[i]] * 2 + i
print(a)
