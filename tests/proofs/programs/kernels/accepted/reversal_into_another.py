# A permutation: each iteration stores to one place.
n = 9
A = list(range(n))
B = [0] * n
# dlb: parallel
for i in range(n):
    B[n - 1 - i] = A[i]
print(B)
