# free: each output is gathered
n = 10
x = [1.0 * k for k in range(n)]
y = [0.0] * (n - 2)
# dlb: parallel
for i in range(n - 2):
    for j in range(3):
        y[i] = y[i] * 0.5 + x[i + j]
print(y)
