# expect: DLB306 9:12
import numpy as np

n = 8
rows = [np.zeros(3) for _ in range(n)]
numbers = [0.0] * n
# dlb: parallel
for i in range(n):
    mine = rows.copy()
    mine[i] += 1.0
    plain = numbers.copy()
    plain[i] += 1.0
