import math

def f(A, size):
    # dlb: parallel, cost(size - i)
    for i in range(size):
        A[i] = i
    # dlb: parallel, cost(cumulative=i / math.log(i))
    for i in range(2, size):
        A[i] = i
