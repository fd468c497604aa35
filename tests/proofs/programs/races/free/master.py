# free: it is set before the loop
n = 8
shared = [7]
out = [0] * n
# dlb: parallel
for i in range(n):
    out[i] = shared[0] + i
print(out)
