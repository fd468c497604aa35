# Even elements are stored to, odd ones read.
n = 11
A = list(range(2 * n + 1))
# dlb: parallel
for i in range(n):
    A[2 * i] = A[2 * i + 1] * 2 + (A[2 * i - 1] if i else 0)
print(A)
