A = [0] * 4
# dlb: parallel, BLOCK
for i in A: pass
# dlb: parallel
for i in A: pass
# dlb: parallel
for i in A: pass
