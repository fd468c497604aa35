# expect: DLB114 3:27
A = [0] * 4
# dlb: parallel, schedule(gddlb)
for i in A: pass
