# expect: DLB121 3:22, DLB121 6:22
def f(A, items, n):
    # dlb: parallel, cost(cumulative=i**2)
    for i, x in enumerate(items):
        A[i] = x
    # dlb: parallel, cost(fit=[(1, 0.5), (n, 2.0)])
    for x in items:
        print(x)
