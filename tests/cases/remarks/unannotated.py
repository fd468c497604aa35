def squares(A, n):
    for i in range(n):
        A[i] = i * i
    for i in range(1, n):
        A[i] = A[i - 1] + A[i]
