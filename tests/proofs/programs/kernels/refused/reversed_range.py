# The same by reversed().
n = 12
A = list(range(n))
# dlb: parallel
for i in reversed(range(n - 1)):
    A[i] = A[i + 1] + A[i]
print(A)
