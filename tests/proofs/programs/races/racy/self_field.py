# races: a field is stored and read as a neighbour
class Field:
    def __init__(self, n):
        self.v = [float(k) for k in range(n)]

    def smooth(self):
        # dlb: parallel
        for i in range(1, len(self.v)):
            self.v[i] = 0.5 * (self.v[i] + self.v[i - 1])


field = Field(9)
field.smooth()
print(field.v)
