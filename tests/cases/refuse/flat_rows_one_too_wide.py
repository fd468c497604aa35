# expect: DLB302 6:13
def widened(a, W, H):
    # dlb: parallel
    for y in range(H):
        for x in range(W + 1):
            a[y * W + x] = a[y * W] + x
