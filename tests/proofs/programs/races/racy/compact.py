# races: items are kept, and their number is used
x = [3, 0, 4, 0, 5, 0, 2, 6]
kept = []
place = [0] * 8
# dlb: parallel
for i in range(8):
    place[i] = len(kept)
    if x[i]:
        kept.append(x[i])
print(kept, place)
