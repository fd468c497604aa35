# expect: DLB102 3:8, DLB102 5:8, DLB102 7:1, DLB102 9:8
A = [0] * 4
# dlb: Parallel
for i in A: pass
# dlb: BLOCK, parallel
for i in A: pass
# dlb:
for i in A: pass
# dlb: model=akima
for i in A: pass
