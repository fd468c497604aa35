# free: each iteration sets x; the last value is read after the loop
n = 10
out = [0] * n
# dlb: parallel
for i in range(n):
    x = i * 2
    out[i] = x
print(out, x)
