# races: the state of one object goes from iteration to iteration
class Source:
    def __init__(self):
        self.state = 1

    def draw(self):
        self.state = self.state * 16807 % 2147483647
        return self.state


source = Source()
out = [0] * 8
# dlb: parallel
for i in range(8):
    out[i] = source.draw()
print(out)
