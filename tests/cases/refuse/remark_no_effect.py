# expect: DLB116 3:18
A = [0] * 4
# dlb: parallel, jit
for i in range(4): pass
