A = [0] * 4
# dlb: parallel, schedule(GDDLB)
for i in A: pass
