# expect: DLB118 3:5
async def f(A):
    # dlb: parallel
    async for i in A:
        pass
