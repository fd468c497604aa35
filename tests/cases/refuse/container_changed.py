# expect: DLB306 12:9
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
state = {"v": B}
# dlb: parallel
for i in range(n):
    if i == 5:
        state["v"] = np.zeros(n)
    state["v"][i] = i
