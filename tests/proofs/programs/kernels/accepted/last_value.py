# The temporary's last value is read after the loop.
n = 9
x = [0.0] * n
# dlb: parallel
for i in range(n):
    t = i * 0.5
    x[i] = t + 1
print(x, t, i)
