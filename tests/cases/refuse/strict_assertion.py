# expect --strict: DLB424 6:22, DLB424 6:42
def scatter(A, ix, scratch, n):
    """Where the program knows more than it shows."""
    for step in range(3):
        print(step)
    # dlb: parallel, assume_independent, private(scratch)
    for i in range(n):
        scratch[0] = i
        A[ix[i]] = scratch[0]
