A = [0] * 4
# dlb: parallel, BLOCK,
# dlb:     private(t)
for i in A: t = i
# dlb: iterate, model=akima
for t in A:
    # dlb: parallel
    for i in A: pass
