# expect: DLB129 4:5, DLB129 12:1, DLB129 22:5
A = [0.0] * 4
def passes(A, n):
    # dlb: iterate
    for t in range(n):
        # dlb: parallel
        for i in range(4):
            A[i] += t
        yield A[0]


# dlb: iterate
for t in range(3):
    with Timer(A):
        # dlb: parallel
        for i in range(4):
            A[i] += 1.0
    print(A)


async def wait(A, ticks):
    # dlb: iterate
    async for t in ticks:
        # dlb: parallel
        for i in range(4):
            A[i] += 1.0
