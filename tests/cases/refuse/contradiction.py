# expect: DLB110 3:25, DLB110 3:41, DLB110 5:18
A = [0] * 4
# dlb: parallel, BLOCK, CYCLIC, nofold, fold
for i in A: pass
# dlb: parallel, iterate
for i in A: pass
