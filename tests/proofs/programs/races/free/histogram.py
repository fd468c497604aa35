# combines: counts are a reduction by elements
b = [1, 0, 3, 1, 2, 1, 0, 3]
hist = [0, 0, 0, 0]
# dlb: parallel
for i in range(8):
    hist[b[i]] += 1
print(hist)
