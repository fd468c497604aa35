A = [0] * 4
# dlb: parallel
for i in A: pass
# dlb: parallel, BLOCK
for i in A: pass
# dlb: parallel
for i in A: pass
# dlb: iterate, model=akima
for t in A:
    # dlb: parallel
    for i in A: pass
