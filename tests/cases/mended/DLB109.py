A = [0] * 4
# dlb: parallel, CYCLIC(A)
for i in range(4): A[i] = 1
# dlb: parallel, BLOCK, private(t)
for i in A: t = 1
