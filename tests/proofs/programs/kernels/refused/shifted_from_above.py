# A[i] = A[i+1]: the element must be read before the next iteration stores to it.
A = [float(k) for k in range(12)]
# dlb: parallel
for i in range(11):
    A[i] = A[i + 1]
print(A)
