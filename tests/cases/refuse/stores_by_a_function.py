# expect: DLB410 13:5, DLB410 14:5, DLB410 15:5, DLB410 16:5
import operator
import struct

import numpy as np

n = 8
A = np.ones((n, 3))
total, counts = np.zeros(3), np.ones(1, dtype=int)
packed = bytearray(8)
# dlb: parallel
for i in range(n):
    operator.isub(total, A[i])
    np.left_shift.at(counts, [0], 1)
    np.add.reduce(A, 0, None, total)
    struct.pack_into("d", packed, 0, i)
