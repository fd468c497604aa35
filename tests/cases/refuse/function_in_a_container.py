# expect: DLB412 10:12, DLB418 10:12
import numpy as np

n = 8
A = np.zeros(n)
seen = []
functions = {"note": seen.append}
# dlb: parallel
for i in range(n):
    A[i] = functions["note"](i) or i
