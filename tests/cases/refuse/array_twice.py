# expect: DLB109 3:28, DLB109 5:25
A = [0] * 4
# dlb: parallel, BLOCK(A), CYCLIC(A)
for i in A: A[i] = 1
# dlb: parallel, BLOCK, private(t, t), jit
for i in A: t = 1
