# A[i] = A[i-1], of parameters: no size is known.
def smear(A, n):
    # dlb: parallel
    for i in range(1, n):
        A[i] = A[i - 1]


values = list(range(10))
smear(values, 10)
print(values)
