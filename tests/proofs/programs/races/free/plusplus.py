# free: the place is the iteration's number
n = 9
given = [k * k % 7 for k in range(n)]
kept = [0] * n
# dlb: parallel
for i in range(n):
    kept[i] = given[i]
print(kept)
