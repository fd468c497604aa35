# A method stores into the attribute that the body reads.
class Rod:
    def __init__(self, n):
        self.A = [float(k) for k in range(n + 1)]
        self.n = n

    def put(self, k, value):
        self.A[k] = value

    def sweep(self):
        # dlb: parallel
        for i in range(self.n):
            self.put(i + 1, self.A[i] + 1)


rod = Rod(10)
rod.sweep()
print(rod.A)
