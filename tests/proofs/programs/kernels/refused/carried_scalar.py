# The last value of the iteration before is used.
n = 12
x = [float(k) for k in range(n)]
y = [0.0] * n
last = 0.0
# dlb: parallel
for i in range(n):
    y[i] = x[i] - last
    last = x[i]
print(y)
