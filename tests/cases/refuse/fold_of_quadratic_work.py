# expect: DLB126 3:22, DLB126 8:22
def f(A, n):
    # dlb: parallel, fold
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] += k
    # dlb: parallel, fold, cost((n - i)**3)
    for i in range(n):
        A[i, 0] = i
