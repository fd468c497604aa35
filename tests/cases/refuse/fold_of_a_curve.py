# expect: DLB110 3:28, DLB110 6:42, DLB110 9:40
def f(A, n):
    # dlb: parallel, fold, cost(cumulative=i**2)
    for i in range(n):
        A[i] = i
    # dlb: parallel, cost(fit=[(1, 2)]), fold
    for i in range(n):
        A[i] = i
    # dlb: parallel, profile(every=3), fold
    for i in range(n):
        A[i] = i
