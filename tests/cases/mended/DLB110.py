A = [0] * 4
# dlb: parallel, CYCLIC, nofold
for i in A: pass
# dlb: parallel
for i in A: pass
