"""Loops in methods that use `super()` and `__class__`, and bodies that call such methods."""

import numpy as np

n = 11


class Base:
    def __init__(self, k):
        self.k = k
        self.A = np.zeros(n)

    def value(self, i):
        return self.k * i + 0.5

    def name(self):
        return "base"


class Child(Base):
    def __init__(self, k):
        super().__init__(k)
        self.__scale = 2

    def value(self, i):
        return super().value(i) * self.__scale

    def run(self):
        x = np.zeros(n)
        # dlb: parallel
        for i in range(n):
            x[i] = super().value(i) + len(__class__.__name__) + self.value(i)
        return x

    def fill(this):
        # dlb: parallel
        for i in range(n):
            this.A[i] = super().value(i) + this.__scale

            class Local(Base):
                def value(self, j):
                    return super().value(j) + 1

            this.A[i] += Local(i).value(i)
        return this.A.sum()

    @classmethod
    def made(cls):
        names = [""] * n
        # dlb: parallel
        for i in range(n):
            names[i] = cls(i).name() + __class__.__qualname__
        return names


class Grandchild(Child):
    def value(self, i):
        return -super().value(i)

    def name(self):
        return "grand" + super().name()


for kind in (Child, Grandchild):
    print(kind(3).run(), kind(2).fill(), kind.made())
m = Grandchild(4)
y = np.zeros(n)
# dlb: parallel
for i in range(n):
    y[i] = m.value(i) + Child(i).value(2)
print(y)


class Model:
    """Its methods are called like those of a generator and of a list."""

    def __init__(self):
        self.drawn = []

    def gamma(self, x):
        return x / 3

    def append(self, x):
        return x + len(self.drawn)

    def shuffle(self, x):
        self.drawn.append(x)
        return -x


model = Model()
# dlb: parallel
for i in range(n):
    y[i] = model.gamma(i)
print(y)
# dlb: parallel
for i in range(n):
    y[i] = model.shuffle(i)
print(y, model.drawn)
# dlb: parallel
for i in range(n):
    y[i] = model.append(i)
print(y)
