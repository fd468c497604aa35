"""Objects that cannot leave rank 0 beside what the loops use: they stay, and are as they were afterwards."""

import io
import queue
import random
import socket
import sqlite3
import sys
import tempfile
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np


class Base:
    __slots__ = ("A", "lock", "n")


class Slotted(Base):
    __slots__ = ("rng", "scale")


class Io:
    def __init__(self, log):
        self.log = log
        self.err = sys.stderr
        self.step = 0.25


class Sim:
    def __init__(self, n, log):
        self.n = n
        self.A = np.arange(float(n))
        self.B = np.zeros(n)
        self.cfg = {"dt": 0.5, "log": log, "io": {"file": log, "k": 2}}
        self.io = Io(log)
        self.log = log
        self.write = log.write
        self.gen = (k for k in range(10))
        self.numbers = iter([5, 6])
        self.lock = threading.Lock()
        self.condition = threading.Condition()
        self.rng = np.random.default_rng(7)
        self.python = random.Random(3)
        self.queue = queue.Queue()
        self.thread = threading.Thread(target=self.save)
        self.socket = socket.socket()
        self.space = SimpleNamespace(h=3.0, log=log)

    def save(self):
        with self.lock:
            self.log.write("saved\n")

    def cost(self, x):
        return np.log(x + 1.0) * self.io.step

    @property
    def h(self):
        return self.space.h

    def attributes(self):
        # dlb: parallel
        for i in range(self.n):
            self.A[i] = self.A[i] * 2 + self.n

    def items(self):
        # dlb: parallel
        for i in range(self.n):
            self.A[i] += self.cfg["dt"] * self.cfg["io"]["k"]

    def calls(self):
        # dlb: parallel
        for i in range(self.n):
            self.B[i] = self.cost(self.A[i]) * self.h

    def kept(self):
        found = []
        # dlb: parallel
        for i in range(self.n):
            found.append((i, self))
        return found

    def locked(self):
        # dlb: parallel
        for i in range(self.n):
            with self.lock:
                self.A[i] += 1


class State:
    """Pickled in a way of its own, with a lock or without."""

    def __init__(self, n, keeps):
        self.n, self.keeps = n, keeps
        self.A = np.zeros(n)
        self.lock = threading.RLock()

    def __getstate__(self):
        state = dict(self.__dict__)
        if not self.keeps:
            del state["lock"]
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        if "lock" not in state:
            self.lock = threading.RLock()

    def run(self):
        # dlb: parallel
        for i in range(self.n):
            self.A[i] += i


class Reduced:
    def __init__(self, n, lock):
        self.n, self.lock = n, lock
        self.A = np.zeros(n)

    def __reduce__(self):
        return _reduced, (self.n, self.lock, self.A)

    def run(self):
        # dlb: parallel
        for i in range(self.n):
            self.A[i] += i


def _reduced(n, lock, A):
    made = Reduced(n, lock)
    made.A = A
    made.free = not lock.locked()
    return made


@dataclass
class Config:
    dt: float
    database: sqlite3.Connection
    pool: ThreadPoolExecutor

    def __post_init__(self):
        self.owner = weakref.ref(self)
        self.local = threading.local()
        self.query = self.database.execute


class Particle:
    def __init__(self, k):
        self.k = float(k)
        self.lock = threading.Lock()


def of_dictionary(cfg, out):
    # dlb: parallel
    for i in range(len(out)):
        out[i] = cfg["dt"] * i + cfg["inner"]["x"]


def of_data_class(config, out):
    # dlb: parallel
    for i in range(len(out)):
        out[i] = config.dt * i


def of_slots(s):
    # dlb: parallel
    for i in range(s.n):
        s.A[i] = s.A[i] * s.scale + i


def of_items(ps, out):
    # dlb: parallel
    for i in range(len(ps)):
        out[i] = ps[i].k * 2


def identities(box, out):
    # dlb: parallel
    for i in range(len(out)):
        out[i] = (box.lock, box.lock is None, box.k)


log = tempfile.TemporaryFile("w+")
log.write("begun\n")
sim = Sim(60, log)
before = dict(vars(sim))
sim.attributes()
sim.items()
sim.calls()
print(sim.A.sum().hex(), sim.B.sum().hex(), all(s is sim for _, s in sim.kept()))
sim.locked()
print(sim.A.sum())
print([name for name, value in vars(sim).items() if value is not before[name]])
print(next(sim.gen), next(sim.numbers), sim.rng.random().hex(), sim.python.random().hex(), sim.lock.locked())
print(sim.queue.empty(), sim.thread.is_alive(), sim.socket.fileno() >= 0, sim.io.log is log)
sim.thread.start()
sim.thread.join()
log.seek(0)
print(log.read())

out = np.zeros(40)
of_dictionary({"dt": 0.5, "log": log, "inner": {"x": 2.0, "text": io.StringIO(), "file": log}}, out)
print(out.sum())

config = Config(0.25, sqlite3.connect(":memory:"), ThreadPoolExecutor(1))
of_data_class(config, out)
print(out.sum(), config.query("select 3").fetchone(), config.pool.submit(len, "ab").result())
config.pool.shutdown()

slotted = Slotted()
slotted.A, slotted.n, slotted.lock, slotted.scale = np.ones(40), 40, threading.Lock(), 3
slotted.rng = random.Random(1)
of_slots(slotted)
print(slotted.A.sum(), slotted.rng.random().hex())

for state in (State(40, keeps=False), State(40, keeps=True), Reduced(40, threading.Lock())):
    state.run()
    print(type(state).__name__, state.A.sum(), type(state.lock).__name__)

ps = [Particle(k) for k in range(40)]
locks = [p.lock for p in ps]
of_items(ps, out)
print(out.sum(), [p for p, lock in zip(ps, locks) if p.lock is not lock])

found = [None] * 40
identities(ps[0], found)
print([each for each in found if each[0] is not ps[0].lock or each[1]])
