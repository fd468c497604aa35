# expect: DLB303 5:9
def halves(A, n):
    # dlb: parallel
    for k in range(2 * n):
        A[k >> 1, 0] = A[k >> 1, 1] + k
