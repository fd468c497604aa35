# The size of a tile is a parameter.
def fill(A, n, B):
    # dlb: parallel
    for b in range(0, n, B):
        for i in range(b, min(b + B, n)):
            A[i] = 2 * i


values = [0] * 23
fill(values, 23, 4)
print(values)
