# What is read was copied: A[:] of a list is another list.
n = 10
A = [float(k) for k in range(n)]
B = A[:]
# dlb: parallel
for i in range(1, n):
    A[i] = B[i - 1] + 1
print(A)
