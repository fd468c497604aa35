# races: the next free place is a counter that all advance
n = 9
given = [k * k % 7 for k in range(n)]
kept = [0] * n
count = 0
# dlb: parallel
for i in range(n):
    kept[count] = given[i]
    count += 1
print(kept, count)
