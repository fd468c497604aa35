# Tiles of five at distance four.
import numpy as np

n = 20
A = np.zeros(n)
# dlb: parallel
for b in range(0, n, 4):
    for i in range(b, min(b + 5, n)):
        A[i] = b
print(A)
