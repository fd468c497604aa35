class Solver:
    def run(self, n):
        __total = 0
        __items = []
        # dlb: parallel
        for i in range(n):
            for k in range(i):
                __total += k
            __items.append(i)
        return __total, __items


print(Solver().run(5))
