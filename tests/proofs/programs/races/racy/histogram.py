# races: counts are read while they are counted
b = [1, 0, 3, 1, 2, 1, 0, 3]
hist = [0, 0, 0, 0]
rank = [0] * 8
# dlb: parallel
for i in range(8):
    rank[i] = hist[b[i]]
    hist[b[i]] = hist[b[i]] + 1
print(rank)
