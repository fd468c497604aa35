# By reversed().
n = 12
A = [0] * n
# dlb: parallel
for i in reversed(range(n)):
    A[i] = i * i
print(A)
