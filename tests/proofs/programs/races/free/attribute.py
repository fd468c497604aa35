# free: an object for each iteration
class Source:
    def __init__(self, state):
        self.state = state

    def draw(self):
        self.state = self.state * 16807 % 2147483647
        return self.state


out = [0] * 8
# dlb: parallel
for i in range(8):
    source = Source(i + 1)
    out[i] = source.draw()
print(out)
