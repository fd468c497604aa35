# expect: DLB422 9:5
import sys
import numpy as np

n = 8
A = np.zeros(n)
# dlb: parallel
for i in range(n):
    sys.path.append(str(i))
