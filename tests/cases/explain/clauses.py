def triangle(A, B, n):
    # dlb: parallel, CYCLIC, WHOLE(B), cost(n - i), fold
    for i in range(n):
        for j in range(
            i, n
        ):
            A[i, j] = B[i] + B[j]


def profiled(A, n):
    # dlb: parallel, profile(group=5), nofold, jit, schedule(none)
    for i in range(
        n
    ):
        # dlb: parallel
        for j in range(n):
            A[i, j] = i * j
