# free: the recurrence runs in the iteration
n = 12
f = [1] * n
# dlb: parallel
for i in range(n):
    p, q = 1, 1
    for _ in range(i):
        p, q = q, p + q
    f[i] = p
print(f)
