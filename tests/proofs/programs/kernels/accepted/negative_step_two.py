# Counting down by two: the odd neighbour is never stored to.
n = 13
A = list(range(n))
# dlb: parallel
for i in range(n - 1, 0, -2):
    A[i] = A[i] + A[i - 1]
print(A)
