# expect: DLB112 3:18, DLB112 3:28
A = [0] * 4
# dlb: parallel, BLOCK(B), private(i, tt)
for i in A:
    t = 1
