# expect: DLB125 4:26, DLB125 7:26, DLB125 12:26, DLB125 15:26, DLB125 18:26
class Solver:
    def f(self, A, n):
        # dlb: parallel, cost((m := n) - i)
        for i in range(n):
            A[i] = i
        # dlb: parallel, cost(super().work(i))
        for i in range(n):
            A[i] = i

    async def g(self, A, n):
        # dlb: parallel, cost(await A)
        for i in range(n):
            A[i] = i
        # dlb: parallel, cost([k async for k in A][i])
        for i in range(n):
            A[i] = i
        # dlb: parallel, cost((yield))
        for i in range(n):
            A[i] = i
