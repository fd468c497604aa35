def f(A, B, found, n):
    # dlb: parallel, cost(B[i])
    for i in range(len(A)):
        A[i] = 2 * B[i]
    # dlb: parallel, cost(i)
    for i in range(n):
        t = i
        A[i] = t
    s = 0
    # dlb: parallel, cost(n)
    for i in range(n):
        s += A[i]
        found.append(i)
    # dlb: parallel, cost(fit=[(0, 0), (n, 1)])
    for i in range(n):
        A[i] = i
    return s
