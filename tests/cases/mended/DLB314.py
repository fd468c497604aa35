import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
values = [None] * n
# dlb: parallel
for i in range(n):
    values[i] = i
fs = [lambda k=k: values[k] for k in range(n)]
