# expect: DLB108 3:26, DLB108 3:54, DLB108 5:28
A = [0] * 4
# dlb: parallel, BLOCK,  BLOCK, jit, schedule(none), jit
for i in A: pass
# dlb: iterate, every=2,   every=3
for i in A: pass
