A = [[0, 0], [0, 0]]
# dlb: iterate, model=akima
for step in range(2):
    # dlb: parallel, assume_independent, fold
    for i in range(2):
        # dlb: parallel
        for j in range(2):
            A[i][j] = i
    else:
        # dlb: parallel
        for j in range(2):
            A[j][0] = 1
print(A)
