# expect: DLB116 3:18, DLB116 5:1
A = [0] * 4
# dlb: parallel, jit
for i in range(4): pass
# dlb: iterate
while A: A = []
