# races: each input is scattered over its neighbourhood, and the result rescaled
n = 10
x = [1.0 * k for k in range(n)]
y = [0.0] * (n + 2)
# dlb: parallel
for i in range(n):
    for j in range(3):
        y[i + j] = y[i + j] * 0.5 + x[i]
print(y)
