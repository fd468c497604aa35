# expect: DLB124 3:22, DLB124 6:22, DLB124 9:22, DLB124 12:22, DLB124 15:22
def f(A, n):
    # dlb: parallel, cost(-1)
    for i in range(n):
        A[i] = i
    # dlb: parallel, cost(2 - 2)
    for i in range(n):
        A[i] = i
    # dlb: parallel, cost(cumulative=n**2)
    for i in range(n):
        A[i] = i
    # dlb: parallel, cost(fit=3)
    for i in range(n):
        A[i] = i
    # dlb: parallel, cost("i")
    for i in range(n):
        A[i] = i
