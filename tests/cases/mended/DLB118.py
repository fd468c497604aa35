async def f(A):
    items = [i async for i in A]
    # dlb: parallel
    for i in items:
        pass
