import numpy as np
u = np.zeros(9)
# dlb: iterate
for t in range(3):
    # dlb: parallel
    for i in range(9):
        u[i] += t
    print(t, u[4])
