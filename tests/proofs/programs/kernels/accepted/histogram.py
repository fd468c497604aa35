# Counts are combined over iterations.
import numpy as np

b = [3, 1, 0, 2, 1, 1, 3, 0, 2, 2, 2]
hist = np.zeros(4, dtype=int)
# dlb: parallel
for i in range(len(b)):
    hist[b[i]] += 1
print(hist.tolist())
