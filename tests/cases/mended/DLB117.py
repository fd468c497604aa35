A = [0] * 4
steps = 0
while steps < 3:
    # dlb: parallel
    for i in range(4):
        A[i] += 1
    steps += 1
