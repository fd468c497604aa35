class Solver:
    def f(self, A, n):
        m = n
        # dlb: parallel, cost(m - i)
        for i in range(n):
            A[i] = i
