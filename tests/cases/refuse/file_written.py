# expect: DLB402 10:10
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
# dlb: parallel
for i in range(n):
    with open(f'{i}.txt', 'w') as out:
        out.write(str(i))
