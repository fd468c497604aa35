# expect: DLB301 57:5, DLB303 61:5, DLB301 65:5, DLB306 69:12, DLB410 69:12, DLB306 73:12, DLB301 77:5, DLB324 81:5, DLB304 85:5
"""Calls whose stores, followed to the elements, are not the iterations' own."""
import numpy as np


def ahead(a, i):
    a[i + 1] = a[i]


def fixed(a, i):
    a[0] = i


def shifted(a, b, i):
    for k in range(1):
        a[i + k] = b[i - 1]


def itself(a, i):
    if i > 0:
        itself(a, i - 1)
    a[i] = 1


def turned(a, i):
    a = a[::-1]
    a[i] = i


class Field:
    def __init__(self, n):
        self.cells = np.zeros(n)
        self.changes = 0

    def cell(self, i):
        self.smooth(i, 1)

    def smooth(self, i, width):
        self.cells[i] = self.cells[i + width]

    def count(self, i):
        self.changes += 1
        self.cells[i] = self.changes


def chosen(a, i, flag):
    k = i
    if flag:
        k = 0
    a[k] = a[i]


n = 8
u, f = np.zeros(n + 1), Field(n)
# dlb: parallel
for i in range(n):
    ahead(u, i)

# dlb: parallel
for i in range(n):
    fixed(u, i)

# dlb: parallel
for i in range(n):
    shifted(u, u, i)

# dlb: parallel
for i in range(n):
    itself(u, i)

# dlb: parallel
for i in range(n):
    turned(u, i)

# dlb: parallel
for i in range(n - 1):
    f.cell(i)

# dlb: parallel
for i in range(n):
    f.count(i)

# dlb: parallel
for i in range(n):
    chosen(u, i, n > 3)
