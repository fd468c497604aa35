# free: it is iteration 0 that does it
n = 8
out = [0] * n
# dlb: parallel
for i in range(n):
    if i == 0:
        out[i] = 1
    else:
        out[i] = 2
print(out)
