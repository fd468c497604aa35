"""Objects, classes, functions and views are after a loop what they were: the same ones."""

import enum
import functools

import numpy as np

REGISTRY = {}
SCALE = 2.0
MISSING = object()
n = 11


class Cell:
    registry = REGISTRY

    def __init__(self, value):
        self.value = value

    def scaled(self):
        return self.value * SCALE


class Color(enum.Enum):
    RED = 1
    BLUE = 2


def add(a, b):
    return a + b


def subtract(a, b):
    return a - b


@functools.lru_cache(None)
def fibonacci(k):
    return k if k < 2 else fibonacci(k - 1) + fibonacci(k - 2)


operations = [add if k % 2 else subtract for k in range(n)]
names = {add: "add", subtract: "subtract"}
marks = [MISSING if k % 3 else None for k in range(n)]
cells = [Cell(k) for k in range(n)]
method = Cell.scaled
seen, functions, made, kept = [None] * n, [None] * n, [None] * n, [None] * n
# dlb: parallel, BLOCK
for i in range(n):
    seen[i] = (operations[i] is add, names[operations[i]], marks[i] is MISSING, isinstance(cells[i], Cell))
    functions[i] = add
    made[i] = (Cell(fibonacci(i)), Color.RED)
    kept[i] = cells[i]
print(seen)
print([function is add for function in functions], [type(cell) is Cell for cell, _ in made])
print([color is Color.RED for _, color in made], [a is b for a, b in zip(kept, cells)])
print(Cell.scaled is method, Cell.registry is REGISTRY, names[add])
SCALE = 7.0
print([cell.scaled() for cell, _ in made])

pairs = [[k, -k] for k in range(n)]
order = [None] * n
# dlb: parallel, CYCLIC
for i, pair in enumerate(pairs):
    order[i] = pair
print([a is b for a, b in zip(order, pairs)], pair is pairs[-1])
before = list(cells)
# dlb: parallel, BLOCK
for i in range(n):
    if i % 3 == 0:
        cells[i] = None
print([a is b for a, b in zip(cells, before)])

table = np.arange(44.0).reshape(n, 4)
views = [None] * n
# dlb: parallel, BLOCK
for i in range(n):
    row = table[i]
    views[i] = table[i, ::-2]
table[:] = 5
print(row.tolist(), [view.tolist() for view in views])


def shift(rows, other):
    # dlb: parallel, BLOCK
    for i in range(len(rows) - 1):
        for k in range(2):
            rows[i][k] = other[i + 1][k] + 1
    return [list(map(float, row)) for row in rows]


pairs = [[k, k + 1] for k in range(n)]
inner = pairs[7]
print(shift(pairs, pairs[:]), pairs[7] is inner)
print(shift(pairs, [[k, k] for k in range(n)]), inner)
base = np.arange(22.0).reshape(n, 2)
print(shift(list(base), base), shift(list(base), list(base)), base.tolist())
cube = [[[k, 1], [2, 3]] for k in range(n)]
inner = cube[9][1]
# dlb: parallel, BLOCK
for i in range(n):
    cube[i][1][0] = i
print(cube, inner, cube[9][1] is inner)


# Elements that are parts of one array, here alone: a rank's copy of such a part has other strides.
def turned(table):
    blocks = [table[:3, 3 * k : 3 * k + 3] for k in range(4)]
    # dlb: parallel
    for k in range(4):
        blocks[k] = blocks[k].T
    table += 100.0
    return blocks


for run in range(3):
    print(*(block.tolist() for block in turned(np.arange(36.0).reshape(3, 12) + run)))
