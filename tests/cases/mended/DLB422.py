import atexit

A = [0] * 5
# dlb: parallel
for i in range(5):
    A[i] = i
for i in range(5):
    atexit.register(print, i)
