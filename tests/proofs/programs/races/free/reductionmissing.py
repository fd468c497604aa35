# combines: the sum is a reduction
n = 8
u = [k * 0.5 for k in range(n)]
total = 0.0
# dlb: parallel, reduction(total)
for i in range(n):
    total = total + u[i] * u[i]
print(total)
