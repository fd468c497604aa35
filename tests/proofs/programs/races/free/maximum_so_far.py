# combines: the maximum alone
x = [3, 1, 4, 1, 5, 9, 2, 6]
best = 0
# dlb: parallel
for i in range(8):
    best = max(best, x[i])
print(best)
