# expect: DLB422 7:5
import atexit

A = [0] * 5
# dlb: parallel
for i in range(5):
    atexit.register(print, i)
    A[i] = i
