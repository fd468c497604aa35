A = [0] * 4
# dlb: parallel, BLOCK, jit, schedule(none)
for i in range(4): A[i] = i
# dlb: iterate, every=2
for t in A:
    # dlb: parallel
    for i in A: pass
