# Even iterations read what the even iteration before stored to.
n = 16
A = list(range(n))
# dlb: parallel
for i in range(2, n):
    if i % 2 == 0:
        A[i] = A[i - 2] + 1
print(A)
