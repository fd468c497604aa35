# An attribute carries the total from one iteration to the next.
class Rod:
    def __init__(self, n):
        self.total = 0.0
        self.out = [0.0] * n

    def sweep(self):
        # dlb: parallel
        for i in range(len(self.out)):
            self.total = self.total + i
            self.out[i] = self.total


rod = Rod(10)
rod.sweep()
print(rod.out)
