# races: two names of one array, shifted by twelve
import numpy as np

base = np.zeros(64)
low = base
high = base[4:]
# dlb: parallel
for i in range(20):
    low[i] = 1.0
    high[i] = high[i] + 3.0
print(base)
