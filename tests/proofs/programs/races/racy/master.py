# races: iteration 0 sets what the others read
n = 8
shared = [0]
out = [0] * n
# dlb: parallel
for i in range(n):
    if i == 0:
        shared[0] = 7
    out[i] = shared[0] + i
print(out)
