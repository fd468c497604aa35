def squares(A, n):
    total = 0.0
    # dlb: parallel, jit
    for i in range(n):
        for k in range(n):
            A[i] = A[i] * 0.5 + k
        total += A[i] * A[i]
    return total
