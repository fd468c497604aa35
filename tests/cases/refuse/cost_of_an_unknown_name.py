# expect: DLB122 3:22, DLB122 6:22
def f(A, size):
    # dlb: parallel, cost(sise - i)
    for i in range(size):
        A[i] = i
    # dlb: parallel, cost(cumulative=i / log(i))
    for i in range(2, size):
        A[i] = i
