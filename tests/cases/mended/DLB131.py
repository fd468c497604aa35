import math

def f(A, n):
    # dlb: parallel, cost(9 + i)
    for i in range(n):
        A[i] = i
    # dlb: parallel, cost(i / n + 1)
    for i in range(n):
        A[i] = i
    # dlb: parallel, cost(sum(range(10)) + i)
    for i in range(n):
        A[i] = i
    # dlb: parallel, cost(cumulative=i * (1 << 10))
    for i in range(n):
        A[i] = i
    # dlb: parallel, cost(len("abc") * i + 2**10 + math.sqrt(2))
    for i in range(n):
        A[i] = i
