"""Small programs with the conflict that `dlbc witness` is to find in them, and twins without one.

A finding is ``element: LINE WHAT by ITERATION, LINE WHAT by ITERATION``, the earlier access first.
"""

from __future__ import annotations

NP = "import numpy as np\n"

CONFLICTS: dict[str, tuple[str, str]] = {
    "Gauss-Seidel": (
        NP
        + """A = np.ones((5, 5))
# dlb: parallel
for i in range(1, 4):
    for j in range(1, 4):
        A[i, j] = (A[i - 1, j] + A[i, j - 1]) / 2
""",
        "A[1, 1]: 6 stored to by i = 1, 6 reads by i = 2",
    ),
    "prefix sum": (
        """s = [1, 2, 3, 4]
# dlb: parallel
for i in range(1, 4):
    s[i] += s[i - 1]
""",
        "s[1]: 4 updated by i = 1, 4 reads by i = 2",
    ),
    "indirect subscripts with a duplicate": (
        NP
        + """A = np.zeros(6)
ix = [3, 1, 4, 1, 5]
# dlb: parallel
for i in range(5):
    A[ix[i]] = i
""",
        "A[1]: 6 stored to by i = 1, 6 stores to by i = 3",
    ),
    "indirect subscripts that read what another stores": (
        NP
        + """A = np.zeros(6)
ix = np.array([5, 5, 1, 5, 5])
# dlb: parallel
for i in range(5):
    A[i] = A[ix[i]] + 1
""",
        "A[1]: 6 stored to by i = 1, 6 reads by i = 2",
    ),
    "an anti dependence": (
        """A = [0, 1, 2, 3]
# dlb: parallel
for i in range(3):
    A[i] = A[i + 1]
""",
        "A[1]: 4 read by i = 0, 4 stores to by i = 1",
    ),
    "wrap-around": (
        """A = [0, 1, 2, 3]
# dlb: parallel
for i in range(4):
    A[i] = A[i - 1] + 1
""",
        "A[0]: 4 stored to by i = 0, 4 reads by i = 1",
    ),
    "the last element by a negative index": (
        """A = [0, 1, 2, 3]
# dlb: parallel
for i in range(4):
    A[i] = A[-1] + 1
""",
        "A[3]: 4 read by i = 2, 4 stores to by i = 3",
    ),
    "a dependence through a local function": (
        """def main():
    A = [0] * 4
    def step(k):
        A[k] = A[k - 1] + 1
    # dlb: parallel
    for i in range(1, 4):
        step(i)
main()
""",
        "A[1]: 4 stored to by i = 1, 4 reads by i = 2",
    ),
    "a dependence through a function that gets the array": (
        NP
        + """def smooth(B, k):
    B[k] = (B[k - 1] + B[k + 1]) / 2
A = np.ones(6)
# dlb: parallel
for i in range(1, 5):
    smooth(A, i)
""",
        "A[1]: 3 stored to by i = 1, 3 reads by i = 2",
    ),
    "a dependence through an attribute": (
        NP
        + """class Grid:
    def __init__(self):
        self.A = np.ones(5)
    def sweep(self):
        # dlb: parallel
        for i in range(1, 5):
            self.A[i] = self.A[i - 1]
Grid().sweep()
""",
        "self.A[1]: 8 stored to by i = 1, 8 reads by i = 2",
    ),
    "a dependence through an alias": (
        """A = [0] * 4
B = A
# dlb: parallel
for i in range(1, 4):
    B[i] = A[i - 1]
""",
        "B[1]: 5 stored to by i = 1, 5 reads by i = 2",
    ),
    "a dependence through a view": (
        NP
        + """A = np.zeros(6)
B = A[2:]
# dlb: parallel
for i in range(4):
    B[i] = A[i]
""",
        "A[2]: 6 stored to by i = 0, 6 reads by i = 2",
    ),
    "a dependence through the transpose": (
        NP
        + """A = np.zeros((3, 3))
# dlb: parallel
for i in range(3):
    for j in range(3):
        A[i, j] = A.T[i, j] + 1
""",
        "A[0, 1]: 6 stored to by i = 0, 6 reads by i = 1",
    ),
    "a dependence through a reshaped array": (
        NP
        + """A = np.zeros((2, 3))
flat = A.reshape(-1)
# dlb: parallel
for k in range(5):
    flat[k + 1] = A[0, 0]
    A[0, 0] = k
""",
        "A[0, 0]: 7 stored to by k = 0, 6 reads by k = 1",
    ),
    "nested lists": (
        """A = [[0] * 3 for _ in range(3)]
# dlb: parallel
for i in range(1, 3):
    for j in range(3):
        A[i][j] = A[i - 1][j] + 1
""",
        "A[1][0]: 5 stored to by i = 1, 5 reads by i = 2",
    ),
    "one row in two places": (
        """A = [[0] * 3] * 2
# dlb: parallel
for i in range(2):
    A[i][1] = i
""",
        "A[0][1]: 4 stored to by i = 0, 4 stores to by i = 1",
    ),
    "rows that the loop runs over": (
        """rows = [[0, 0], [1, 1], [2, 2]]
last = rows[2]
# dlb: parallel
for k, row in enumerate(rows):
    row[0] = last[0] + k
""",
        "last[0]: 5 read by k = 1, 5 stores to by k = 2",
    ),
    "a dictionary": (
        """d = {'x': 1, 'y': 2}
# dlb: parallel
for i in range(3):
    d['y'] = d['x']
    d['x'] = i
""",
        "d['x']: 5 stored to by i = 0, 4 reads by i = 1",
    ),
    "a dictionary read where it is filled": (
        """d = {}
# dlb: parallel
for i in range(4):
    d[i] = d.get(i - 1, 0) - 1
""",
        "d[0]: 4 stored to by i = 0, 4 reads by i = 1",
    ),
    "counts that are looked at": (
        """counts = {}
# dlb: parallel
for i in range(4):
    counts['a'] = counts.get('a', 0) + 1
    if counts['a'] > 2:
        pass
""",
        "counts['a']: 5 read by i = 0, 4 updates by i = 1",
    ),
    "a dictionary that grows where it is read": (
        """from collections import defaultdict
groups = defaultdict(list)
# dlb: parallel
for i in range(3):
    groups[i % 2].append(i)
""",
        "groups[0]: 5 read and stored to by i = 0, 5 reads by i = 2",
    ),
    "a set that is asked": (
        """seen = set()
# dlb: parallel
for i in [3, 5, 3]:
    if i not in seen:
        seen.add(i)
""",
        "seen[3]: 5 stored to by number 0, i = 3, 4 reads by number 2, i = 3",
    ),
    "a list that grows and is measured": (
        """found = []
# dlb: parallel
for i in range(3):
    found.append(i)
    n = len(found)
""",
        "the length of found: 5 read by i = 0, 4 adds to by i = 1",
    ),
    "a stack": (
        """stack = [1, 2, 3]
# dlb: parallel
for i in range(3):
    x = stack.pop()
""",
        "the length of stack: 4 read and stored to by i = 0, 4 reads and stores to by i = 1",
    ),
    "a scalar that is carried": (
        """A = [1, 2, 3]
t = 0
# dlb: parallel
for i in range(3):
    A[i] = t
    t = A[i] + i
""",
        "t: 6 stored to by i = 0, 5 reads by i = 1",
    ),
    "a scalar that is accumulated and read": (
        """A = [1, 2, 3]
s = 0
# dlb: parallel
for i in range(3):
    s += A[i]
    A[i] = s
""",
        "s: 6 read by i = 0, 5 updates by i = 1",
    ),
    "two operators on one scalar": (
        """s = 1
# dlb: parallel
for i in range(3):
    s += i
    s *= 2
""",
        "s: 5 updated by i = 0, 4 updates by i = 1",
    ),
    "a difference that is taken the other way round": (
        """s = 1
# dlb: parallel
for i in range(3):
    s = i - s
""",
        "s: 4 stored to by i = 0, 4 reads by i = 1",
    ),
    "a global that a function rebinds": (
        """state = 0
def draw():
    global state
    state = state * 3 + 1
    return state
A = [0] * 3
# dlb: parallel
for i in range(3):
    A[i] = draw()
""",
        "state: 4 stored to by i = 0, 4 reads by i = 1",
    ),
    "a nonlocal in a closure": (
        """def main():
    total = 0
    def add(x):
        nonlocal total
        total = total + x
        return total
    A = [0] * 3
    # dlb: parallel
    for i in range(3):
        A[i] = add(i)
main()
""",
        "total: 5 stored to by i = 0, 5 reads by i = 1",
    ),
    "a triangular nest": (
        NP
        + """A = np.ones((4, 4))
# dlb: parallel
for i in range(4):
    for j in range(i):
        A[i, j] = A[j, i]
        A[j, i] = 0
    A[i, 0] += A[i - 1, i - 1] if i else 0
    A[i, i] = i
""",
        "A[0, 0]: 9 stored to by i = 0, 8 reads by i = 1",
    ),
    "a wavefront": (
        NP
        + """W = np.zeros((4, 4), dtype=int)
# dlb: parallel
for i in range(1, 4):
    for j in range(1, 4):
        W[i, j] = max(W[i - 1, j], W[i, j - 1]) + 1
""",
        "W[1, 1]: 6 stored to by i = 1, 6 reads by i = 2",
    ),
    "row operations in place": (
        NP
        + """A = np.ones((4, 3))
# dlb: parallel
for i in range(1, 4):
    row = A[i]
    row /= 2
    row -= A[i - 1]
""",
        "A[1, 0]: 7 updated by i = 1, 7 reads by i = 2",
    ),
    "out=": (
        NP
        + """A = np.ones((3, 2))
t = np.zeros(2)
# dlb: parallel
for i in range(3):
    np.add(A[i], 1, out=t)
    A[i] = t
""",
        "t[0]: 7 read by i = 0, 6 stores to by i = 1",
    ),
    "numpy functions": (
        NP
        + """A = np.ones((3, 4))
r = np.zeros(3)
# dlb: parallel
for i in range(3):
    r[i] = np.dot(A[i], A[2 - i]) + r.sum()
""",
        "r[0]: 6 stored to by i = 0, 6 reads by i = 1",
    ),
    "methods of arrays": (
        NP
        + """A = np.ones((3, 4))
# dlb: parallel
for i in range(3):
    A[i].fill(A[0].sum())
""",
        "A[0, 0]: 5 stored to by i = 0, 5 reads by i = 1",
    ),
    "slices that overlap": (
        NP
        + """A = np.zeros(9)
# dlb: parallel
for i in range(3):
    A[2 * i : 2 * i + 3] = i
""",
        "A[2]: 5 stored to by i = 0, 5 stores to by i = 1",
    ),
    "a mask": (
        NP
        + """A = np.arange(4)
# dlb: parallel
for i in range(3):
    A[A > i] -= 1
""",
        "A[1]: 5 updated by i = 0, 5 reads by i = 1",
    ),
    "a while loop in the body": (
        """A = [3, 0, 0, 0]
# dlb: parallel
for i in range(3):
    k = i
    while k >= 0:
        A[k + 1] = A[k]
        k -= 1
""",
        "A[1]: 6 stored to by i = 0, 6 reads by i = 1",
    ),
    "a loop over zip": (
        """A, B = [1, 2, 3], [4, 5, 6]
# dlb: parallel
for a, k in zip(A, range(3)):
    A[(k + 1) % 3] = B[k]
""",
        "A[1]: 4 stored to by a = 1, k = 0, 3 reads by a = 4, k = 1",
    ),
    "a loop that counts down": (
        """A = [1, 2, 3, 4]
# dlb: parallel
for i in reversed(range(3)):
    A[i] = A[i + 1]
""",
        "A[2]: 4 stored to by i = 2, 4 reads by i = 1",
    ),
    "the second of two loops": (
        """A = [1, 2, 3, 4]
# dlb: parallel
for i in range(4):
    A[i] = i
# dlb: parallel
for i in range(1, 4):
    A[i] = A[i - 1]
""",
        "A[1]: 7 stored to by i = 1, 7 reads by i = 2",
    ),
    "a loop run several times": (
        """A = [1, 2, 3, 4]
def go(shift):
    # dlb: parallel
    for i in range(1, 4):
        A[i] = A[i - shift]
go(0)
go(1)
""",
        "A[1]: 5 stored to by i = 1, 5 reads by i = 2, run 2",
    ),
    "nested functions and defaults": (
        """def outer():
    A = [0] * 4
    def middle(k):
        def inner(m=k):
            return A[m]
        return inner
    # dlb: parallel
    for i in range(1, 4):
        A[i] = middle(i - 1)()
outer()
""",
        "A[1]: 9 stored to by i = 1, 5 reads by i = 2",
    ),
    "an attribute of an object": (
        """class Sum:
    def __init__(self):
        self.total = 0
    def add(self, x):
        self.total += x
        return self.total
s = Sum()
# dlb: parallel
for i in range(3):
    s.add(i)
""",
        "s.total: 6 read by i = 0, 5 reads and stores to by i = 1",
    ),
    "a sum in an attribute": (
        """class Sum:
    def __init__(self):
        self.total = 0
s = Sum()
# dlb: parallel
for i in range(3):
    s.total = i - s.total
""",
        "s.total: 7 stored to by i = 0, 7 reads by i = 1",
    ),
    "a histogram in a function": (
        """hist = [0] * 3
def count(k):
    hist[k] += 1
# dlb: parallel
for i in [2, 0, 2]:
    count(i)
""",
        "hist[2]: 3 read and stored to by number 0, i = 2, 3 reads and stores to by number 2, i = 2",
    ),
    "objects in a list": (
        """class P:
    def __init__(self, x):
        self.x = x
ps = [P(k) for k in range(3)]
# dlb: parallel
for i in range(1, 3):
    ps[i].x = ps[i - 1].x
""",
        "ps[1].x: 7 stored to by i = 1, 7 reads by i = 2",
    ),
    "a generator that is drawn from": (
        """source = iter(range(9))
# dlb: parallel
for i in range(3):
    x = next(source)
""",
        "the state of source: 4 read and stored to by i = 0, 4 reads and stores to by i = 1",
    ),
    "a random generator": (
        NP
        + """rng = np.random.default_rng(1)
A = np.zeros(3)
# dlb: parallel
for i in range(3):
    A[i] = rng.random()
""",
        "the state of rng: 6 read and stored to by i = 0, 6 reads and stores to by i = 1",
    ),
    "an operator in place": (
        NP
        + """import operator
total = np.zeros(1)
# dlb: parallel
for i in range(3):
    operator.iadd(total, i)
""",
        "total[0]: 6 read and stored to by i = 0, 6 reads and stores to by i = 1",
    ),
    "a place for results": (
        NP
        + """A, total = np.ones((3, 2)), np.zeros(1)
# dlb: parallel
for i in range(3):
    np.sum(A[i:i + 1], 1, None, total)
    A[i].sum(0, None, total[0, ...])
""",
        "total[0]: 6 stored to by i = 0, 5 stores to by i = 1",
    ),
    "bytes into an array": (
        """import array
A = array.array('b')
# dlb: parallel
for i in range(3):
    A.frombytes(b'x')
""",
        "the length of A: 5 read and stored to by i = 0, 5 reads and stores to by i = 1",
    ),
    "a histogram of other things": (
        NP
        + """hist = np.zeros(4, dtype=int)
b = [1, 2, 1]
# dlb: parallel
for i in range(3):
    hist[b[i]] += 1
    hist[0] = hist[1]
""",
        "hist[1]: 6 updated by i = 0, 7 reads by i = 1",
    ),
    "the imaginary part": (
        NP
        + """C = np.zeros(3, dtype=complex)
# dlb: parallel
for i in range(2):
    C.imag[i] = C[i + 1].real
""",
        "C[1]: 5 read by i = 0, 5 stores to by i = 1",
    ),
    "a field of records": (
        NP
        + """A = np.zeros(3, dtype=[('x', float), ('y', float)])
# dlb: parallel
for i in range(2):
    row = A[i + 1].copy()
    A['y'][i] = row['y']
""",
        "A[1]: 5 read by i = 0, 6 stores to by i = 1",
    ),
    "a scratch array": (
        NP
        + """t = np.zeros(2)
# dlb: parallel
for i in range(3):
    t[0] = i
""",
        "t[0]: 5 stored to by i = 0, 5 stores to by i = 1",
    ),
}
