# races: the running maximum is stored
x = [3, 1, 4, 1, 5, 9, 2, 6]
top = [0] * 8
best = 0
# dlb: parallel
for i in range(8):
    best = max(best, x[i])
    top[i] = best
print(top)
