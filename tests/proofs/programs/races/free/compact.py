# combines: items are kept in order
x = [3, 0, 4, 0, 5, 0, 2, 6]
kept = []
# dlb: parallel
for i in range(8):
    if x[i]:
        kept.append(x[i])
print(kept)
