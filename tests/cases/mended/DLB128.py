A = [0.0] * 4
# dlb: iterate
for t in range(3):
    # dlb: parallel
    for i in range(4):
        A[i] += t
