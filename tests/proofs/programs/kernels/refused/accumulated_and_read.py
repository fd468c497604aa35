# The running total is seen by the iteration: no reduction.
n = 12
x = [float(k) for k in range(n)]
y = [0.0] * n
s = 0.0
# dlb: parallel
for i in range(n):
    s += x[i]
    y[i] = s
print(y, s)
