A = [0.0] * 4
# dlb: parallel, jit
for i in range(4):
    A[i] = i * 0.5
