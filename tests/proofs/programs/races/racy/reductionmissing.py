# races: the sum is read in each iteration
n = 8
u = [k * 0.5 for k in range(n)]
part = [0.0] * n
total = 0.0
# dlb: parallel
for i in range(n):
    total = total + u[i] * u[i]
    part[i] = total / (i + 1)
print(part)
