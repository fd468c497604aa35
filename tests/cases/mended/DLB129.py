A = [0.0] * 4
with Timer(A):
    # dlb: iterate
    for t in range(3):
        # dlb: parallel
        for i in range(4):
            A[i] += 1.0
print(A)
