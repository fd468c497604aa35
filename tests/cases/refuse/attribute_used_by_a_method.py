# expect: DLB324 17:13, DLB324 18:13
n = 8


class Mean:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def value(self):
        return self.total / max(self.count, 1)

    def run(self, xs):
        out = [0.0] * len(xs)
        # dlb: parallel
        for i in range(len(xs)):
            self.count += 1
            self.total += xs[i]
            out[i] = self.value()
        return out


print(Mean().run([0.5] * n))
