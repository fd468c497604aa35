# expect: DLB113 3:17, DLB113 5:18
A = [0] * 4
# dlb: iterate, BLOCK
for i in A: pass
# dlb: parallel, every=2
for i in A: pass
