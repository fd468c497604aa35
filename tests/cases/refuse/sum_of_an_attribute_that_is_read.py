# expect: DLB324 16:5
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
class Total:
    def __init__(self):
        self.value = 0


total = Total()
# dlb: parallel
for i in range(n):
    total.value += B[i] - total.value
