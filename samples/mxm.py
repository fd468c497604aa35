"""Matrix multiplication, Z = X Y, by the three loops of the definition.

The rows of X are handwritten digits (scikit-learn's 8x8 images, 64 pixels each) and the columns of Y are
digits too, so Z[i, j] is the inner product of digits i and j: how much ink they share.

Cost: every row of Z costs the same, m * r multiplications.

    python samples/mxm.py [N [M]]      N rows of X, M columns of Y (at most 1797)
"""

import importlib.util
import sys
import zlib
from pathlib import Path

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 200
m = int(sys.argv[2]) if len(sys.argv) > 2 else 240

# scikit-learn ships them as a table, which numpy reads: 64 pixels a row and the label.
installed = importlib.util.find_spec("sklearn").submodule_search_locations[0]
digits = np.loadtxt(Path(installed, "datasets", "data", "digits.csv.gz"), delimiter=",")[:, :64]
X = digits[:n]
Y = np.ascontiguousarray(digits[:m].T)
n, r = X.shape
m = Y.shape[1]
Z = np.zeros((n, m))

# dlb: parallel, BLOCK
for i in range(n):
    for j in range(m):
        for k in range(r):
            Z[i, j] += X[i, k] * Y[k, j]

# The pixels are whole numbers, and so are their products and sums: no rounding anywhere.
inner = Z.astype(np.int64)
print(f"Z = X Y with X {n}x{r} and Y {r}x{m}")
print(f"sum of Z: {inner.sum()}")
print(f"largest element of Z: {inner.max()}")
print(f"crc32 of Z: {zlib.crc32(Z.tobytes()):08x}")
