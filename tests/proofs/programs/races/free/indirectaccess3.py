# free: two arrays of their own
import numpy as np

low = np.zeros(64)
high = np.zeros(64)
# dlb: parallel
for i in range(20):
    low[i] = 1.0
    high[i] = high[i] + 3.0
print(low, high)
