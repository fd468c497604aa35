# Six iterations of ten: 4 and 5 meet.
n = 10
A = list(range(n))
# dlb: parallel
for i in range(6):
    A[n - 1 - i] = A[i] + 1
print(A)
