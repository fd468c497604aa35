"""Items that belong to their iteration, changed in place: objects, lists, dictionaries, rows of arrays."""

import random
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from enum import Enum
from types import SimpleNamespace

import numpy as np

n = 13


class Phase(Enum):
    OLD = 1
    NEW = 2


class Particle:
    def __init__(self, k):
        self.x, self.v, self.trail = float(k), 0.5 * k, []

    def move(self, dt):
        self.x += dt * self.v
        self.trail.append(self.x)


class Cell:
    __slots__ = ("left", "right")

    def __init__(self, k):
        self.left, self.right = k, [k]

    def turn(self):
        self.left, self.right = self.right, [self.left]


@dataclass
class Account:
    balance: int
    log: list = field(default_factory=list)
    phase: Phase = Phase.OLD


class Thing:
    def __init__(self, k):
        self.k = k
        self.recent, self.letters, self.groups = deque([k], maxlen=3), Counter("ab"), defaultdict(list)
        self.order, self.names = OrderedDict(a=1, b=2), SimpleNamespace(v=k)
        self.held = ([k], bytearray(b"x"), np.zeros(2))
        self.same = self.groups["q"]
        self.me = self

    def work(self):
        self.recent.append(self.k + 1)
        self.letters.update("a")
        self.groups["z"].append(1)
        self.order.move_to_end("a")
        self.names.w = [self.names]
        self.held[0].append(5)
        self.held[1].extend(b"yz")
        self.held[2][0] += self.k
        self.same.append(99)
        self.other = self.same
        self.twin = Particle(self.k)


class World:
    def __init__(self):
        self.particles = [Particle(k) for k in range(n)]
        self.dt = 0.25

    def step(self):
        # dlb: parallel
        for p in self.particles:
            p.move(self.dt)
        # dlb: parallel, CYCLIC
        for i in range(len(self.particles)):
            self.particles[i].v += self.dt


world = World()
first, trail = world.particles[3], world.particles[3].trail
world.step()
world.step()
print([(p.x, p.v, p.trail) for p in world.particles])
print(first is world.particles[3], trail is first.trail)

cells = [Cell(k) for k in range(n)]
# dlb: parallel
for c in reversed(cells):
    c.turn()
print([(c.left, c.right) for c in cells])

accounts = {f"name {k}": Account(k) for k in range(n)}
# dlb: parallel
for name, account in accounts.items():
    account.balance += len(name)
    account.log.append(name)
    account.phase = Phase.NEW
print(accounts, all(a.phase is Phase.NEW for a in accounts.values()))

things = [Thing(k) for k in range(n)]
old = [(t.recent, t.letters, t.groups, t.order, t.names, t.held, t.same) for t in things]
# dlb: parallel
for t in things:
    t.work()
for t, was in zip(things, old):
    now = (t.recent, t.letters, t.groups, t.order, t.names, t.held, t.same)
    print(t.k, t.recent, t.letters, dict(t.groups), t.order, t.held, t.twin.x)
    print(t.me is t, t.other is t.same is t.groups["q"], t.names.w[0] is t.names, type(t.twin) is Particle)
    print([a is b for a, b in zip(now, was)])

A = np.arange(1.0, 4 * n + 1).reshape(n, 4)
B = np.zeros((n, 4))
# dlb: parallel
for row in A:
    row /= row.sum()
    row[0] = row[1:].max()
# dlb: parallel
for a, b in zip(A, B):
    b[:] = a * 2
print(A.tolist(), B.tolist())
# dlb: parallel
for i, x in enumerate(A[:, 0]):
    B[i] += x
line = np.arange(1.0, n + 1)
# dlb: parallel
for i, x in enumerate(line):
    line[i] = x * x + i
print(B.tolist(), line.tolist())

lists, dicts, sets = [[k] for k in range(n)], [{"n": k} for k in range(n)], [{k} for k in range(n)]
# dlb: parallel
for k, (v, d, s) in enumerate(zip(lists, dicts, sets)):
    v.append(k)
    d["n"] += 1
    d["square"] = k * k
    s.add(k + 100)
print(lists, dicts, [sorted(s) for s in sets])

generators = [np.random.default_rng(k) for k in range(n)]
plain = [random.Random(k) for k in range(n)]
drawn = np.zeros(n)
# dlb: parallel
for i, r in enumerate(plain):
    drawn[i] = generators[i].normal() + r.random()
print(drawn.tolist(), [g.random() for g in generators], [r.random() for r in plain])

last = None
total = 0
found = []
# dlb: parallel
for c in cells:
    c.left = 0
    total += len(c.right)
    found.append(c)
    last = c
print(total, last is cells[-1], c is cells[-1], [a is b for a, b in zip(found, cells)])

failing = [Particle(k) for k in range(n)]
try:
    # dlb: parallel
    for i, p in enumerate(failing):
        p.x += 1
        if i == 9:
            raise KeyError(i)
        p.x += 10
except KeyError as error:
    print(error, i, p is failing[9], [p.x for p in failing[:10]])

# What belongs to several iterations is found before the loop, which rank 0 then runs alone.
shared = [Particle(k) for k in range(n)]
shared.append(shared[0])
# dlb: parallel
for p in shared:
    p.move(0.5)
print([p.x for p in shared])
chain = [SimpleNamespace(k=k, next=None) for k in range(n)]
for a, b in zip(chain, chain[1:]):
    a.next = b
# dlb: parallel
for node in chain:
    node.k += node.next.k if node.next else 0
print([node.k for node in chain])
failing = [Particle(k) for k in range(n)]
index = {"second": failing[2]}
# dlb: parallel
for p in failing:
    p.x += index["second"].x
print([p.x for p in failing])
# dlb: parallel
for i, p in enumerate(cells):
    p.left = i + (cells[i - 1].left if i else 0)
print([c.left for c in cells])


class Body:
    """What its objects hold is kept in several places, and refers to what the program has."""

    def __init__(self, k):
        self.trail, self.all, self.window, self.tag = [k], np.arange(6.0), None, None


settings = {"dt": 0.5}
bodies = [Body(k) for k in range(n)]
trails, tags = [body.trail for body in bodies], [None] * n
order = []
# dlb: parallel
for k, body in enumerate(bodies):
    body.trail.append(settings["dt"])
    body.trail = list(body.trail)
    order.append(body)
print([body.trail for body in bodies], trails, [a is b for a, b in zip(order, bodies)])
# dlb: parallel
for k, body in enumerate(bodies):
    body.window = body.all[1:4]
    body.window *= k
print([(b.all.tolist(), b.window.tolist(), np.shares_memory(b.all, b.window)) for b in bodies])
for body in bodies:
    body.window = None
# dlb: parallel
for k, body in enumerate(bodies):
    body.tag = {"settings": settings, "mine": body, "new": [k]}
    tags[k] = body.tag
print([b.tag["settings"] is settings and b.tag["mine"] is b and tag is b.tag for b, tag in zip(bodies, tags)])
arrays = [np.arange(4.0) for _ in range(n)]
kept = list(arrays)
# dlb: parallel
for k, a in enumerate(arrays):
    a.dtype = np.int64
    a += k
    a.setflags(write=k % 2 == 0)
print([(a.tolist(), a.flags.writeable) for a in arrays], [a is b for a, b in zip(arrays, kept)])


def changed_under_another_name(kind):
    held = {k: [k] if kind == "lists" else 1 for k in range(6)}
    other, seen = held, []
    if kind == "lists":
        # dlb: parallel
        for key, value in held.items():
            other[(key + 1) % 6] += value[-1:]
    elif kind == "views":
        # dlb: parallel
        for place, value in enumerate(held.values()):
            other[(place + 1) % 6] = value + 1
            seen.append(value)
    else:
        # dlb: parallel
        for key, value in held.items():
            other[(key + 1) % 6] = value + 1
        seen += [key, value]
    print(held, seen)


for kind in ("lists", "views", "items"):
    changed_under_another_name(kind)


def growing(kind):
    held = kind([1, 2, 3])
    other, reached = held, []
    try:
        # dlb: parallel
        for value in held:
            other.append(value)
    except RuntimeError as error:
        reached.append(str(error))
    print(list(held), reached)


growing(deque)

A = np.arange(12.0).reshape(3, 4)
# dlb: parallel
for x in np.nditer(A, op_flags=["readwrite"]):
    x[...] = x * 2
print(A.tolist())

rows, out, c = [(k, k + 1, k + 2) for k in range(7)], [], "before"
# dlb: parallel
for i, (a, *c) in enumerate(rows):
    c.append("m")
    out.append(c)
print(i, a, c, c is out[-1], out)


def last_rest(rows):
    c = "before"
    try:
        # dlb: parallel
        for a, *c in rows:
            c.append(1 // (4 - a))
    except ZeroDivisionError:
        pass
    return c


print(last_rest(rows[:3]), last_rest(rows), last_rest([]))
