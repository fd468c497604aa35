# expect: DLB107 3:18, DLB107 4:12, DLB107 4:23, DLB107 6:17
A = [0] * 4
# dlb: parallel, BLOK,
# dlb:     privat(i), block
for i in A: pass
# dlb: iterate, modal=akima
for i in A: pass
