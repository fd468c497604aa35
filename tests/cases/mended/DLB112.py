A = [0] * 4
# dlb: parallel, BLOCK(A), private(t)
for i in range(4):
    t = 1
    A[i] = t
