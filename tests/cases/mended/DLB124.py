def f(A, n):
    # dlb: parallel, cost(1)
    for i in range(n):
        A[i] = i
    # dlb: parallel, cost(2)
    for i in range(n):
        A[i] = i
    # dlb: parallel, cost(cumulative=i**2)
    for i in range(n):
        A[i] = i
    # dlb: parallel, cost(fit=[(0, 0), (n, 3)])
    for i in range(n):
        A[i] = i
    # dlb: parallel, cost(i + 1)
    for i in range(n):
        A[i] = i
