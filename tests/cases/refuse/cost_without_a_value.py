# expect: DLB131 5:22, DLB131 8:22, DLB131 11:22, DLB131 14:22
import math

def f(A, n):
    # dlb: parallel, cost(9**9**9 + i)
    for i in range(n):
        A[i] = i
    # dlb: parallel, cost(i / n * (1 / 0))
    for i in range(n):
        A[i] = i
    # dlb: parallel, cost(sum(range(10**12)) + i)
    for i in range(n):
        A[i] = i
    # dlb: parallel, cost(cumulative=i * (1 << 10**12))
    for i in range(n):
        A[i] = i
    # dlb: parallel, cost(len("abc") * i + 2**10 + math.sqrt(2))
    for i in range(n):
        A[i] = i
