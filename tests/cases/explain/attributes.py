class Solver:
    def __init__(self, n):
        self.n = n
        self.A = [[0.0] * n for _ in range(n)]
        self.__B = [0.0] * n

    def step(self):
        # dlb: parallel
        for i in range(self.n):
            for j in range(self.n):
                self.A[i][j] = i + j
        # dlb: parallel
        for row in range(self.n):
            self.__B[row] = row
        return row
