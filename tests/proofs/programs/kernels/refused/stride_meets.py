# Even elements are stored to, and 2 * i + 2 is the next one.
n = 24
A = [0] * n
# dlb: parallel
for i in range(10):
    A[2 * i] = A[2 * i + 2] + 1
print(A)
