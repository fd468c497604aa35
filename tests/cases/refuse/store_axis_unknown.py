# expect: DLB304 11:9
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
def f(k):
    # dlb: parallel
    for i in range(n):
        A[k, i] = A[k, i] / 2
