# expect: DLB123 3:22, DLB123 6:22, DLB123 11:22, DLB123 11:22, DLB123 15:22
def f(A, found, n):
    # dlb: parallel, cost(A[i])
    for i in range(len(A)):
        A[i] = 2 * A[i]
    # dlb: parallel, cost(t)
    for i in range(n):
        t = i
        A[i] = t
    s = 0
    # dlb: parallel, cost(s + len(found))
    for i in range(n):
        s += A[i]
        found.append(i)
    # dlb: parallel, cost(fit=[(i, 1)])
    for i in range(n):
        A[i] = i
    return s
