# expect: DLB410 11:5, DLB410 12:5, DLB410 13:5, DLB410 14:5, DLB410 15:5
import numpy as np

n = 8
A = np.ones((n, 3, 3))
total = np.zeros(3)
whole = np.zeros(())
real = np.zeros((3, 3))
# dlb: parallel
for i in range(n):
    A[i].sum(0, None, total)
    A[i].max(0, total)
    A[i].dot(A[i], real)
    A[i].conj(real)
    np.modf(A[i], real)
