import io
from contextlib import contextmanager
from math import *

import numpy as np

n = 12
x = np.zeros(n)
text = io.StringIO()


@contextmanager
def section(name):
    yield [len(name)]


class Base:
    def value(self, i):
        return 2.0 * i


class Child(Base):
    def fill(self, out):
        # dlb: parallel
        for i in range(n):
            out[i] = super().value(i) + len(__class__.__name__)


def integrate(f, m):
    return sum(f(k) for k in range(m)) / m


# dlb: parallel
for i in range(n):
    np.random.seed(i)
    x[i] = np.random.rand()
with section("abc") as parts:
    # dlb: parallel
    for i in range(n):
        f = lambda t: t * i + sqrt(parts[0])
        print(i, f(2), file=text)
        x[i] = integrate(f, 5)
Child().fill(x)
print(x, text.getvalue(), np.random.rand())
