class Solver:
    def __init__(self, n):
        self.__grid = [0.0] * n
        self.__n = n

    def step(self, __factor):
        # dlb: parallel
        for __i in range(self.__n):
            self.__grid[__i] = __factor * __i
        return __i, self.__grid


print(Solver(3).step(2.0))
