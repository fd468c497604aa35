A = [0] * 4
# dlb: iterate, every=2
for t in range(9):
    # dlb: parallel, BLOCK
    for i in range(4):
        A[i] += t
