"""Small programs whose parallel loops have no conflict: the twins of `cases`."""

from __future__ import annotations

NP = "import numpy as np\n"

PEACEFUL: dict[str, str] = {
    "Jacobi": NP
    + """A, B = np.ones((5, 5)), np.zeros((5, 5))
# dlb: parallel
for i in range(1, 4):
    for j in range(1, 4):
        B[i, j] = (A[i - 1, j] + A[i, j - 1]) / 2
""",
    "a sum": "A = [1, 2]\ns = 0\n# dlb: parallel\nfor i in range(2):\n    s += A[i]\nprint(s)\n",
    "a sum written out": "A = [1, 2]\ns = 0\n# dlb: parallel\nfor i in range(2):\n    s = A[i] + s\n",
    "a maximum": "A = [1, 2]\ns = 0\n# dlb: parallel\nfor i in range(2):\n    s = max(s, A[i])\n",
    "all of them": "A = [1, 2]\ns = True\n# dlb: parallel\nfor i in range(2):\n    s = s and A[i] > 0\n",
    "the place of the maximum": """A = [1, 3, 2]
best, where = -1, -1
# dlb: parallel
for i in range(3):
    if A[i] > best:
        best, where = A[i], i
print(best, where)
""",
    "the place of the minimum, the other way round": """A = [1, 3, 2]
best = 9
# dlb: parallel
for i in range(3):
    v = A[i]
    if best > v:
        best = v
        where = i
""",
    "a histogram": NP
    + """hist = np.zeros(4, dtype=int)
b = [1, 2, 1]
# dlb: parallel
for i in range(3):
    hist[b[i]] += 1
""",
    "a histogram by numpy": NP
    + """hist = np.zeros(4, dtype=int)
b = np.array([[1, 2], [1, 1]])
# dlb: parallel
for i in range(2):
    np.add.at(hist, b[i], 1)
""",
    "rows added up": NP
    + """A = np.ones((3, 2))
acc = np.zeros(2)
# dlb: parallel
for i in range(3):
    acc += A[i]
""",
    "minima of groups": """low = [9, 9]
# dlb: parallel
for i in range(4):
    low[i % 2] = min(low[i % 2], i)
""",
    "counts in a dictionary": """d = {}
# dlb: parallel
for w in ['a', 'b', 'a']:
    d[w] = d.get(w, 0) + 1
""",
    "counts in a Counter": """from collections import Counter
d = Counter()
# dlb: parallel
for w in ['ab', 'b', 'a']:
    d[w] += 1
    d.update(w)
""",
    "a sum of sums and the best of some": """A = [1, 2, 3]
s, best = 0, -1
# dlb: parallel
for i in range(3):
    for k in range(2):
        s = s + A[i] - k
    if i != 1 and A[i] > best:
        best = A[i]
    A[i] = -1 if i else 1
print(s, best)
""",
    "what is appended, stored and added": """items, d, found = [], {}, set()
# dlb: parallel
for i in range(3):
    items.append(i)
    items.extend([i, i])
    d['last'] = i
    found.add(i % 2)
    print(i)
""",
    "indirect subscripts without a duplicate": NP
    + """A = np.zeros(6)
ix = np.array([3, 1, 4, 0, 5])
# dlb: parallel
for i in range(5):
    A[ix[i]] += A[ix[i]] * 2 + i
""",
    "temporaries": """A = [0] * 4
# dlb: parallel
for i in range(4):
    t = i
    for k in range(2):
        t += k
    A[i] = t
print(t, k)
""",
    "a temporary list": """A = [0] * 4
# dlb: parallel
for i in range(4):
    t = []
    t.append(i)
    t[0] += 1
    A[i] = len(t) + sum(t)
""",
    "a temporary array at the same address": NP
    + """A = np.zeros(4)
# dlb: parallel
for i in range(4):
    t = np.zeros(100)
    t[0] = i
    t += 1
    A[i] = t.sum()
""",
    "a private array": NP
    + """A = np.zeros(4)
t = np.zeros(3)
# dlb: parallel, private(t)
for i in range(4):
    t[0] = i
    t[:] = i
    A[i] = t[0] + t.sum()
""",
    "a local function": """def main():
    A = [0] * 4
    def step(k):
        A[k] = k
    # dlb: parallel
    for i in range(1, 4):
        step(i)
main()
""",
    "an attribute": NP
    + """class Grid:
    def __init__(self):
        self.A, self.__b = np.ones(5), 2
    def sweep(self):
        # dlb: parallel
        for i in range(1, 5):
            self.A[i] = self.A[i] * self.__b
Grid().sweep()
""",
    "views apart": NP
    + """A = np.zeros(6)
B, C = A[::2], A[1::2]
# dlb: parallel
for i in range(3):
    B[i] = C[i]
""",
    "columns": NP
    + """A = np.zeros((4, 4))
# dlb: parallel
for j in range(4):
    A[:, j] = A.T[j] + 1
    A[::-1][0, j] = 2
""",
    "nested lists": """A = [[0] * 3 for _ in range(3)]
# dlb: parallel
for i in range(3):
    for j in range(3):
        A[i][j] = A[i][j - 1] + 1
    A[i][0:2] = [1, 2]
""",
    "slices of a list": """A = [0] * 6
# dlb: parallel
for i in range(3):
    A[2 * i : 2 * i + 2] = [i, i]
""",
    "rows of the loop": """rows = [[0, 0], [1, 1], [2, 2]]
# dlb: parallel
for row in rows:
    row[0] += row[1]
    row.append(3)
    row.sort()
""",
    "a triangular nest": NP
    + """A = np.ones((4, 4))
# dlb: parallel
for i in range(4):
    for j in range(i):
        A[i, j] = A[i, i] + j
""",
    "a half copied to the other": """A = [1, 2, 3, 4]
# dlb: parallel
for i in range(2):
    A[i] = A[3 - i]
""",
    "row operations in place": NP
    + """A = np.ones((4, 3))
# dlb: parallel
for i in range(4):
    row = A[i]
    row /= 2
    np.sqrt(row, out=row)
    np.add(A[i], row, A[i])
    A[i].sort()
""",
    "fields of rows": NP
    + """A = np.zeros(3, dtype=[('x', float), ('y', float)])
# dlb: parallel
for i in range(3):
    A['x'][i] = A[i]['y'] + 1
""",
    "loops of all kinds": """A, B = [1, 2, 3], [4, 5, 6]
# dlb: parallel
for k, (a, b) in enumerate(zip(A, B)):
    A[k] = a + b
# dlb: parallel
for k in reversed(range(3)):
    j = k
    while j > 0:
        j -= 1
    A[k] = j
# dlb: parallel
for x in (B[k] for k in range(3)):
    y = [z for z in range(x)]
else:
    A[0] = A[1]
""",
    "loop run several times": """A, B = [1, 2, 3], [4, 5, 6]
for t in range(3):
    # dlb: parallel
    for i in range(3):
        A[i] = B[i] + t
    A, B = B, A
""",
    "nested parallel loops": NP
    + """A = np.zeros((3, 3))
def inner(i):
    # dlb: parallel
    for j in range(3):
        A[i, j] = j
# dlb: parallel
for i in range(3):
    inner(i)
""",
    "recursion": """def fib(n):
    a = 0
    # dlb: parallel
    for i in range(n):
        t = i
        a += fib(t)
    return a + 1
print(fib(4))
""",
    "matching": """A = [(0, 1), (1, 2), {'k': 3}]
B = [0] * 3
# dlb: parallel
for i in range(3):
    match A[i]:
        case (0, x) if x > 0:
            B[i] = x
        case (p, q):
            B[i] = p + q
        case {'k': v, **rest}:
            B[i] = v + len(rest)
""",
    "statements of all kinds": """import io
B = [0] * 3
# dlb: parallel
for i in range(3):
    import math as m
    def f(x, y=i):
        return x + y
    class C:
        z = i
    try:
        with io.StringIO() as stream:
            stream.write(str(i))
        raise ValueError(f'{i}')
    except ValueError as error:
        B[i] = f(m.floor(i + 0.5)) + C.z + len(error.args)
    finally:
        if (n := len(str(i))) and not n > 3:
            B[i] -= n
    g = lambda q: q + n
    B[i] = B[i] if g(1) else -1
    del g
""",
    "generators of their own": NP
    + """B = np.zeros(3)
# dlb: parallel
for i in range(3):
    rng = np.random.default_rng(i)
    it = iter([1, 2])
    B[i] = rng.random() + next(it)
""",
    "elements set by functions": NP
    + """import operator
B, C = np.zeros(3), [0] * 3
# dlb: parallel
for i in range(3):
    operator.setitem(B, i, i)
    C.__setitem__(i, i)
""",
    "objects in a list": """class P:
    __slots__ = ('x', 'y')
    def __init__(self, x):
        self.x = x
ps = [P(k) for k in range(3)]
# dlb: parallel
for p in ps:
    p.y = p.x + 1
""",
    "a dictionary of rows": """d = {k: [0] for k in 'abc'}
# dlb: parallel
for key in 'abc':
    d[key].append(1)
    d[key][0] += 1
    if key in d and d[key]:
        pass
""",
    "a global that a function rebinds first": """state = 0
def draw(k):
    global state
    state = k
    return state
A = [0] * 3
# dlb: parallel
for i in range(3):
    A[i] = draw(i)
""",
    "no iteration": "A = [0]\n# dlb: parallel\nfor i in range(0):\n    A[0] = A[0]\n",
}
