# expect: DLB101 3:18, DLB101 5:1, DLB101 7:1
A = [0] * 4
# dlb: parallel, BLOCK BLOCK
for i in A: pass
# dlb: parallel), f(x
for i in A: pass
# dlb: parallel, (
for i in A: pass
