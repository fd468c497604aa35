# Counting down, A[i + 1] was stored by the iteration before.
n = 12
A = list(range(n))
# dlb: parallel
for i in range(n - 2, -1, -1):
    A[i] = A[i + 1] + A[i]
print(A)
